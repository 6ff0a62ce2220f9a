import { EVM_FORKS, type EvmFork } from '../../config/forks.ts'
import { type ChainParams, NETWORKS } from '../../config/networks.ts'
import { keccak256, keccak256Hex } from '../../crypto/hash.ts'
import { addressOf, sign } from '../../crypto/signature.ts'
import { type AccessListEntry, type Authorization, type Transaction, withSender } from '../../primitives/transaction.ts'
import { encodeTransaction, signingPayload, type UnsignedTransaction } from '../../primitives/transaction-encoding.ts'
import { bigintToBytes, type Hex, hexToBytes, toWord } from '../../util/bytes.ts'
import type { BlockEnv } from '../env.ts'

/* Shapes of the public state tests (execution-spec-tests, ethereum/tests), and what this node makes of them. */

export interface FixtureAccount {
  readonly balance: Hex
  readonly nonce: Hex
  readonly code: Hex
  readonly storage: Readonly<Record<Hex, Hex>>
}

export interface FixturePost {
  readonly hash: Hex
  readonly logs: Hex
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
  readonly expectException?: string
}

interface FixtureTransaction {
  readonly nonce: Hex
  readonly gasPrice?: Hex
  readonly maxFeePerGas?: Hex
  readonly maxPriorityFeePerGas?: Hex
  readonly maxFeePerBlobGas?: Hex
  readonly gasLimit: readonly Hex[]
  readonly value: readonly Hex[]
  readonly data: readonly Hex[]
  readonly to: Hex | ''
  readonly secretKey: Hex
  readonly accessLists?: readonly (readonly AccessListEntry[] | null)[]
  readonly authorizationList?: readonly Readonly<
    Record<'chainId' | 'address' | 'nonce' | 'r' | 's', Hex> & { v?: Hex; yParity?: Hex }
  >[]
}

export interface Fixture {
  readonly env: Readonly<
    Record<'currentCoinbase' | 'currentNumber' | 'currentTimestamp' | 'currentGasLimit' | 'currentDifficulty', Hex>
  > & {
    readonly currentBaseFee?: Hex
    readonly currentRandom?: Hex
  }
  readonly pre: Readonly<Record<Hex, FixtureAccount>>
  readonly transaction: FixtureTransaction
  readonly post: Readonly<Record<string, readonly FixturePost[]>>
}

/** The suites' names of forks, where they are not ours with a capital. */
const FORK_NAMES: Readonly<Record<string, EvmFork>> = {
  EIP150: 'tangerineWhistle',
  EIP158: 'spuriousDragon',
  ConstantinopleFix: 'petersburg',
  Merge: 'paris',
}

export const forkOf = (name: string): EvmFork | undefined => {
  const own = name.charAt(0).toLowerCase() + name.slice(1)
  return FORK_NAMES[name] ?? EVM_FORKS.find(fork => fork === own)
}

export const isSince = (fork: EvmFork, first: EvmFork): boolean => EVM_FORKS.indexOf(fork) >= EVM_FORKS.indexOf(first)

const params = new Map<EvmFork, ChainParams>()

/** Ethereum's own rules at a fork: chain id 1, calldata at the fork's price, no bound on one transaction, no shares of the fees. */
const paramsOf = (fork: EvmFork): ChainParams => {
  let found = params.get(fork)
  if (found === undefined) {
    found = {
      ...NETWORKS.devnet,
      chainId: 1,
      forks: EVM_FORKS.slice(1, EVM_FORKS.indexOf(fork) + 1).map(name => ({ name, height: 0 })),
      calldataGasPerByte: null,
      maxTxExecutionGas: 2n ** 64n,
      feeShares: { proposerPercent: 0n, minerPercent: 0n, foundationPercent: 0n },
      tips: 'coinbase',
    }
    params.set(fork, found)
  }
  return found
}

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex

export const envOf = ({ env }: Fixture, fork: EvmFork): BlockEnv => {
  const miner = lower(env.currentCoinbase)
  const randao = isSince(fork, 'paris') ? env.currentRandom : env.currentDifficulty
  return {
    params: paramsOf(fork),
    number: Number(BigInt(env.currentNumber)),
    timestamp: Number(BigInt(env.currentTimestamp)),
    gasLimit: BigInt(env.currentGasLimit),
    baseFeePerGas: isSince(fork, 'london') ? BigInt(env.currentBaseFee ?? 0) : 0n,
    miner,
    proposerReward: miner,
    foundation: miner,
    prevRandao: toWord(BigInt(randao ?? 0)),
    // By the suites' convention: the hash of the number's decimal text.
    blockHash: number => keccak256Hex(Buffer.from(String(number))),
  }
}

const typeOf = ({ authorizationList, maxFeePerGas }: FixtureTransaction, hasList: boolean): 0 | 1 | 2 | 4 => {
  if (authorizationList !== undefined) return 4
  if (maxFeePerGas !== undefined) return 2
  return hasList ? 1 : 0
}

const authorizationOf = (item: NonNullable<FixtureTransaction['authorizationList']>[number]): Authorization => ({
  chainId: BigInt(item.chainId),
  address: lower(item.address),
  nonce: BigInt(item.nonce),
  yParity: Number(BigInt(item.yParity ?? item.v ?? 0)),
  r: bigintToBytes(BigInt(item.r)),
  s: bigintToBytes(BigInt(item.s)),
})

const accessListOf = (list: readonly AccessListEntry[]): AccessListEntry[] =>
  list.map(({ address, storageKeys }) => ({
    address: lower(address),
    storageKeys: storageKeys.map(key => toWord(BigInt(key))),
  }))

/** The transaction of one entry, signed. Throws TRANSACTION_MALFORMED where no encoding can hold its fields. */
export const transactionOf = ({ transaction }: Fixture, { indexes }: FixturePost, fork: EvmFork): Transaction => {
  const {
    gasPrice = '0x0',
    maxFeePerGas = gasPrice,
    maxPriorityFeePerGas = gasPrice,
    to,
    authorizationList,
  } = transaction
  const accessList = transaction.accessLists?.[indexes.data]
  const unsigned: UnsignedTransaction = {
    type: typeOf(transaction, Boolean(accessList)),
    // EIP-155 came with Spurious Dragon.
    chainId: isSince(fork, 'spuriousDragon') ? 1 : undefined,
    nonce: Number(BigInt(transaction.nonce)),
    gasLimit: BigInt(transaction.gasLimit[indexes.gas] as Hex),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    to: to === '' ? null : lower(to),
    value: BigInt(transaction.value[indexes.value] as Hex),
    data: hexToBytes(transaction.data[indexes.data] as Hex),
    accessList: accessListOf(accessList ?? []),
    ...(authorizationList && { authorizationList: authorizationList.map(authorizationOf) }),
  }
  const secret = hexToBytes(transaction.secretKey)
  const signature = sign(keccak256(signingPayload(unsigned)), secret)
  const yParity = signature[64] === 1 ? 1 : 0
  const decoded = encodeTransaction(unsigned, { yParity, r: signature.subarray(0, 32), s: signature.subarray(32, 64) })
  return withSender(decoded, { hash: keccak256Hex(decoded.raw), from: addressOf(secret) })
}
