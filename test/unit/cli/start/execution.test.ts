import { describe, expect, test } from 'vitest'
import { checkExecution } from '../../../../src/cli/start/run.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'

describe('EthereumJS and validators', () => {
  const validator = { execution: 'ethereumjs', validatorKey: 'key.json' } as const

  test.each(['mainnet', 'testnet'] as const)('a validator of %s is refused, and told why', name => {
    expect(() => checkExecution(validator, { params: NETWORKS[name] })).toThrow(
      /A validator of \w+ cannot run with --execution ethereumjs: .*hundreds of times longer/,
    )
  })

  test.each(['mainnet', 'testnet'] as const)('a node of %s that follows is not, nor one in shadow mode', name => {
    checkExecution({ execution: 'ethereumjs' }, { params: NETWORKS[name] })
    checkExecution({ ...validator, execution: 'shadow' }, { params: NETWORKS[name] })
  })

  test('a validator of a devnet may', () => checkExecution(validator, { params: NETWORKS.devnet }))
})
