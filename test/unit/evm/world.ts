import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { forksAtGenesis } from '../../../devtools/ethereum-params.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { type ChainParams, NETWORKS } from '../../../src/config/networks.ts'
import { keccak256, keccak256Hex } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { EngineMessage } from '../../../src/evm/engine.ts'
import type { TransactionSource } from '../../../src/evm/executor-types.ts'
import { type Transaction, withSender } from '../../../src/primitives/transaction/transaction.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { signedBy } from '../../support/signed-by.ts'
import { MemoryState, memoryAccount } from '../state/memory-state.ts'

export const TOKEN = 10n ** 18n
export const GWEI = 10n ** 9n
/** Gas price that a legacy wallet offers on an idle chain. */
export const GAS_PRICE = 27_500_000_000n

export interface Key {
  readonly secret: Uint8Array
  readonly address: Hex
}
export const key = (n: number): Key => {
  const secret = keccak256(Uint8Array.of(n >> 8, n & 255))
  return { secret, address: addressFromPrivateKey(secret) }
}

/** The devnet with every fork up to one from its first block on. */
export const paramsAt = (fork: EvmFork): ChainParams => ({ ...NETWORKS.devnet, forks: forksAtGenesis(fork) })

export const env = (overrides: Partial<BlockEnv> = {}): BlockEnv => ({
  params: NETWORKS.devnet,
  number: 1_000,
  timestamp: 1_700_000_000,
  gasLimit: 999_999_999_999n,
  baseFeePerGas: 25n * GWEI,
  miner: `0x${'a1'.repeat(20)}`,
  proposerReward: `0x${'b2'.repeat(20)}`,
  foundation: `0x${'c3'.repeat(20)}`,
  prevRandao: keccak256Hex(Uint8Array.of(7)),
  blockHash: number => keccak256Hex(Uint8Array.of(number >> 8, number & 255)),
  ...overrides,
})

export const signed = (from: Key, fields: Partial<UnsignedTransaction> = {}): Transaction => {
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId: NETWORKS.devnet.chainId,
    nonce: 0,
    gasLimit: 1_000_000n,
    maxFeePerGas: GAS_PRICE,
    maxPriorityFeePerGas: fields.maxFeePerGas ?? GAS_PRICE,
    to: null,
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    ...fields,
  }
  const decoded = signedBy(unsigned, from.secret)
  return withSender(decoded, { hash: keccak256Hex(decoded.raw), from: from.address })
}

/** Message with this gas, without data or value, at 1 wei per unit; `fields` differ. */
export const messageTo = (to: Hex, gas: bigint, from: Key, fields: Partial<EngineMessage> = {}): EngineMessage => ({
  from: from.address,
  to,
  value: 0n,
  data: EMPTY_BYTES,
  gas,
  gasPrice: 1n,
  accessList: [],
  ...fields,
})

/** Accounts with this much wei each. */
export const funded = (keys: readonly Key[], balance = 1_000_000n * TOKEN): MemoryState =>
  new MemoryState(new Map(keys.map(({ address }) => [address, memoryAccount({ balance })])))

export const withCode = (state: MemoryState, address: Hex, code: Uint8Array, balance = 0n): MemoryState => {
  const codeHash = keccak256Hex(code)
  state.accounts.set(address, memoryAccount({ nonce: 1, balance, codeHash }))
  state.codes.set(codeHash, code)
  return state
}

/** Call data: the selector of a signature such as `transfer(address,uint256)` and its static arguments. */
export const encodeCall = (signature: string, ...args: readonly (bigint | Hex)[]): Uint8Array =>
  concatBytes(keccak256(Buffer.from(signature)).subarray(0, 4), ...args.map(arg => hexToBytes(toWord(BigInt(arg)))))

/** A source over a list, as the pool would be for one sender after another. */
export const listSource = (list: readonly Transaction[]): TransactionSource => {
  const skipped = new Set<Hex>()
  let at = 0
  return {
    next() {
      while (at < list.length && skipped.has((list[at] as Transaction).from)) at++
      return list[at++]
    },
    skipSender: tx => void skipped.add(tx.from),
  }
}

export const ample = { maxBytes: 4 * 1024 * 1024, nowMs: () => 0, deadlineMs: 1, transactionMs: 1 }

/** Bytecode from numbers and hex strings. */
export const code = (...parts: readonly (number | string)[]): Uint8Array =>
  Buffer.concat(parts.map(part => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part, 'hex'))))

/** Init code that deploys `runtime`: PUSH2 size, PUSH1 offset, PUSH0, CODECOPY, return it. */
export const deployer = (runtime: Uint8Array): Uint8Array => {
  const size = runtime.byteLength.toString(16).padStart(4, '0')
  return Buffer.concat([code(0x61, size, 0x60, 0x0d, 0x5f, 0x39, 0x61, size, 0x5f, 0xf3), code(0x00), runtime])
}
