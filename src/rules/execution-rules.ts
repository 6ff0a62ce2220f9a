import type { Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import { type EvmFork, evmForkAt, isForkSince } from '../config/forks.ts'
import type { ChainParams } from '../config/networks.ts'
import type { PrecompilePrice, PrecompilePrices } from '../config/precompile-prices.ts'
import { type IntrinsicGasRules, intrinsicGasRules } from './intrinsic-gas.ts'

/** Fork rules for whole transactions. */
export interface ExecutionRules {
  readonly fork: EvmFork
  readonly intrinsic: IntrinsicGasRules
  /** A refund is at most gas used / this (EIP-3529). */
  readonly refundQuotient: bigint
  /** Highest EIP-2718 type accepted; blobs (3) also need a block with a blob price (`env.blobs`). */
  readonly newestType: number
  readonly hasBaseFee: boolean
  /** EIP-155: a signature may include its chain id. */
  readonly hasReplayProtection: boolean
  /** Deletes touched empty accounts (EIP-161). */
  readonly sweepsEmpty: boolean
  /** Limits init code (EIP-3860). */
  readonly boundsInitCode: boolean
  /** EIP-7702: delegated accounts may send, and type 4 exists. */
  readonly hasDelegation: boolean
  /** Stores parent block hashes (EIP-2935). */
  readonly recordsBlockHashes: boolean
  /** EIP-7685, where there is a consensus layer. */
  readonly hasRequests: boolean
  /** Receipts have a status instead of a state root (EIP-658). */
  readonly hasStatus: boolean
  /** EIP-7825, where the network has no bound of its own on one transaction; null without a cap. */
  readonly transactionGasCap: bigint | null
  /** EIP-7594; null: limited only by the block. */
  readonly blobsPerTransaction: number | null
  readonly precompiles: ReadonlySet<Hex>
}

const OSAKA_TRANSACTION_GAS_CAP = 16_777_216n
const OSAKA_TRANSACTION_BLOBS = 6

/** First and last address of the precompiles added by each fork. */
const PRECOMPILES: readonly (readonly [EvmFork, number, number])[] = [
  ['frontier', 0x01, 0x04],
  ['byzantium', 0x05, 0x08],
  ['istanbul', 0x09, 0x09],
  ['cancun', 0x0a, 0x0a],
  ['prague', 0x0b, 0x11],
  ['osaka', 0x100, 0x100],
]

const precompilesSince = (since: (name: EvmFork) => boolean, prices: PrecompilePrices | null): ReadonlySet<Hex> => {
  const all = new Set<Hex>()
  for (const [fork, first, last] of PRECOMPILES) {
    if (!since(fork)) continue
    for (let number = first; number <= last; number++)
      if (prices?.[number] !== null) all.add(`0x${number.toString(16).padStart(40, '0')}`)
  }
  return all
}

const newestType = (since: (name: EvmFork) => boolean): number => {
  if (since('prague')) return 4
  if (since('cancun')) return 3
  if (since('london')) return 2
  return since('berlin') ? 1 : 0
}

export const executionRules = (fork: EvmFork, params: ChainParams): ExecutionRules => {
  const since = (name: EvmFork): boolean => isForkSince(fork, name)
  return {
    fork,
    intrinsic: intrinsicGasRules(fork, params.calldataGasPerByte),
    refundQuotient: since('london') ? 5n : 2n,
    newestType: newestType(since),
    hasBaseFee: since('london'),
    hasReplayProtection: since('spuriousDragon'),
    sweepsEmpty: since('spuriousDragon'),
    boundsInitCode: since('shanghai'),
    hasDelegation: since('prague'),
    recordsBlockHashes: since('prague'),
    hasRequests: since('prague'),
    hasStatus: since('byzantium'),
    transactionGasCap: since('osaka') && params.maxTxExecutionGas === null ? OSAKA_TRANSACTION_GAS_CAP : null,
    blobsPerTransaction: since('osaka') ? OSAKA_TRANSACTION_BLOBS : null,
    precompiles: precompilesSince(since, params.precompilePrices),
  }
}

const cache = new WeakMap<ChainParams, Map<EvmFork, ExecutionRules>>()

/** Returns the rules of a block; cached per network. */
export const executionRulesAt = (params: ChainParams, number: Uint64): ExecutionRules => {
  const byFork = getOrMake(cache, params, () => new Map<EvmFork, ExecutionRules>())
  return getOrMake(byFork, evmForkAt(params.forks, number), fork => executionRules(fork, params))
}

/** Returns the gas that the work itself may use of all gas; undefined where the fixed part of the price is not paid. */
export const gasForWork = ({ times, plus }: PrecompilePrice, gas: bigint): bigint | undefined =>
  gas < plus ? undefined : (gas - plus) / times

/** Returns the whole price of work that used so much by the fork's own price. */
export const wholePrice = ({ times, plus }: PrecompilePrice, used: bigint): bigint => used * times + plus
