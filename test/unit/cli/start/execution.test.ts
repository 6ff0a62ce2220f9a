import { describe, expect, test } from 'vitest'
import { checkExecution, checkHistory } from '../../../../src/cli/start/run.ts'
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

test('a history too short for what reads it is refused with the least that is enough', () => {
  const flags = { history: 40_000, stateHistory: 128, snapshotInterval: 10_800 } as const
  const mainnet = { params: NETWORKS.mainnet }
  checkHistory(flags, mainnet)
  checkHistory({ ...flags, history: 'full', stateHistory: 'archive' }, mainnet)
  const refusals = [
    [{ history: 10_000 }, /at least 32896 blocks, or "full"/],
    [{ history: 8_191, snapshotInterval: 0 }, /at least 8192 blocks/],
    [{ stateHistory: 50_000 }, /at least 50000 blocks/],
    [{ stateHistory: 'archive' }, /--state-history archive keep all blocks/],
  ] as const
  for (const [changed, words] of refusals) expect(() => checkHistory({ ...flags, ...changed }, mainnet)).toThrow(words)
  expect(() => checkHistory(flags, { params: NETWORKS.devnet })).toThrow('development chains')
})
