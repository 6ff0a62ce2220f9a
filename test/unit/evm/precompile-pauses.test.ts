import { hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { ethereumParams } from '../../../devtools/state-test/fork.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { precompilePrograms } from '../../support/hostile/precompile-programs.ts'
import { ENGINES, engineOf } from './engines/engines.ts'
import { env, funded, key } from './world.ts'

const GAS = 8_000_000
/** Most gas between two chances to pause. With slices of no length each chance is taken, whatever the speed of the machine. */
const GAS_PER_PAUSE = 500_000

const caller = key(1)
const CASES = ENGINES.flatMap(name =>
  Object.entries(precompilePrograms(GAS))
    // From Osaka on an exponent of a megabyte is refused without work.
    .filter(([what]) => what !== 'one long exponent')
    .map(([what, code]) => [name, what, hexToBytes(code)] as const),
)

test.each(CASES)('%s pauses in %s', async (name, _, data) => {
  let pauses = 0
  const engine = await engineOf(name)
  const giveWay = async () => {
    pauses++
  }
  const message = { from: caller.address, to: null, value: 0n, data, gas: BigInt(GAS), gasPrice: 1n, accessList: [] }
  const interrupt = { sliceMs: 0, shouldStop: () => false, giveWay }
  const journal = new Journal(funded([caller]))
  journal.setNonce(caller.address, 1)
  const { gasUsed } = await engine.run(journal, env({ params: ethereumParams('cancun') }), message, { interrupt })
  expect(gasUsed).toBe(BigInt(GAS))
  expect(Number(gasUsed) / pauses).toBeLessThan(GAS_PER_PAUSE)
})
