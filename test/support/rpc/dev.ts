import type { Hex } from '@tandem/base/bytes.ts'
import { Impersonation } from '../../../src/chain/dev/impersonation.ts'
import type { DevPort } from '../../../src/rpc/ports.ts'
import { MemoryChain, signedTransaction } from './memory-chain.ts'

const ACCOUNT: Hex = `0x${'ab'.repeat(20)}`
const WORD: Hex = `0x${'00'.repeat(31)}07`

/** Block of a chain with one transaction, as built and not committed. */
const trial: DevPort['trial'] = async () => {
  const block = new MemoryChain().append({ transactions: [signedTransaction({ nonce: 0 })] })
  return { block, execution: { fees: { miner: 5n } } } as unknown as Awaited<ReturnType<DevPort['trial']>>
}

/** Helpers that do nothing and answer as if they had: golden answers and schemas of their methods. */
export const SAMPLE_DEV: DevPort = {
  impersonation: new Impersonation(),
  mode: { automine: true, intervalMs: 0 },
  throwsOnRevert: false,
  snapshot: async () => 1,
  revert: async id => id === 1,
  reset: async () => {},
  mine: async () => {},
  setMode: () => {},
  increaseTime: seconds => seconds,
  setTime: () => -5,
  setNextTimestamp: async () => {},
  setTimestampInterval: seconds => seconds === undefined,
  setNextBaseFee: () => {},
  setCoinbase: () => {},
  setGasLimit: () => {},
  edit: async () => {},
  dropTransactions: async () => true,
  dropAllTransactions: async () => true,
  dump: async () => Uint8Array.of(0x1f, 0x8b),
  load: async () => {},
  trial,
}

const both = (rest: Readonly<Record<string, readonly unknown[]>>): Record<string, readonly unknown[]> =>
  Object.fromEntries(
    Object.entries(rest).flatMap(([name, args]) => [
      [`hardhat_${name}`, args],
      [`anvil_${name}`, args],
    ]),
  )

export const DEV_ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  ...both({
    setBalance: [ACCOUNT, '0xde0b6b3a7640000'],
    setCode: [ACCOUNT, '0x5f'],
    setNonce: [ACCOUNT, '0x5'],
    setStorageAt: [ACCOUNT, '0x0', WORD],
    impersonateAccount: [ACCOUNT],
    stopImpersonatingAccount: [ACCOUNT],
    dropTransaction: [WORD],
    mine: ['0x3', '0x3c'],
    reset: [{ forking: { blockNumber: null } }],
    setNextBlockBaseFeePerGas: ['0x5d21dba00'],
    setCoinbase: [ACCOUNT],
    setLoggingEnabled: [true],
    loadState: ['0x1f8b'],
  }),
  evm_revert: ['0x1'],
  evm_mine: [{ timestamp: 1_800_000_000, blocks: 2 }],
  evm_increaseTime: [3_600],
  evm_setTime: [1_735_689_600],
  evm_setNextBlockTimestamp: ['0x6b49d200'],
  evm_setAutomine: [false],
  evm_setIntervalMining: [5_000],
  evm_setBlockGasLimit: ['0x1c9c380'],
  anvil_revert: ['0x2'],
  anvil_increaseTime: ['60'],
  anvil_setTime: [1_735_689_600_000],
  anvil_setNextBlockTimestamp: [1_800_000_000],
  anvil_setAutomine: [true],
  anvil_setBlockGasLimit: [30_000_000],
  anvil_setIntervalMining: [5],
  anvil_setBlockTimestampInterval: [12],
  anvil_autoImpersonateAccount: [false],
  anvil_removePoolTransactions: [ACCOUNT],
  testing_buildBlockV1: [
    WORD,
    { timestamp: '0x6b49d200', prevRandao: WORD, suggestedFeeRecipient: ACCOUNT, withdrawals: [] },
    [],
    '0x746573745f6e616d65',
  ],
}
