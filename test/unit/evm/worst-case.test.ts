import { expect, test } from 'vitest'
import { evmForkAt } from '../../../src/config/forks.ts'
import { intrinsicGasRules, minimumGas } from '../../../src/rules/intrinsic-gas.ts'
import { FAMILIES } from '../../worst-case/families.ts'
import { firstGenes } from '../../worst-case/family.ts'
import { WARM_UP_GAS } from '../../worst-case/measure.ts'
import { paramsAt } from './world.ts'

test.each(FAMILIES.map(family => [family.kind, family] as const))(
  'the search can pay for every input of %s',
  (_, family) => {
    const first = firstGenes(family)
    const varied = Object.entries(family.axes).flatMap(([axis, choices]) =>
      choices.map(choice => ({ ...first, [axis]: choice })),
    )
    for (const genes of [first, ...varied]) {
      const { transactions, fork = 'cancun' } = family.build(genes, WARM_UP_GAS)
      const { forks, calldataGasPerByte } = paramsAt(fork)
      const rules = intrinsicGasRules(evmForkAt(forks, 0), calldataGasPerByte)
      for (const {
        to = null,
        data = new Uint8Array(),
        gasLimit = WARM_UP_GAS / BigInt(transactions.length),
      } of transactions) {
        const least = minimumGas({ to, data, accessList: [] }, rules)
        expect(least, JSON.stringify(genes)).toBeLessThanOrEqual(gasLimit)
      }
    }
  },
)
