import { runSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { type EvmFork, isForkSince } from '../../../config/forks.ts'
import type { PrecompilePrice } from '../../../config/precompile-prices.ts'
import { gasForWork, wholePrice } from '../../../rules/execution-rules.ts'
import { PRECOMPILE_REASON, type PrecompileReason } from '../../failure-reasons.ts'

/** Output, or the reason of a failure, which consumes all gas. */
export type PrecompileOutput = Uint8Array | PrecompileReason
/** Returns a promise when it is time to yield. */
export type Check = () => Promise<void> | undefined
/** Price by the input and the fork, or the reason why the input has none. */
export type InputPrice = (data: Uint8Array, fork: EvmFork) => bigint | PrecompileReason
/** Computation whose price is paid: synchronous, or with pauses. */
export type Run = (data: Uint8Array, check: Check) => PrecompileOutput | Promise<PrecompileOutput>

export interface Precompile {
  /** Gas without which any input fails, at any fork: the price of all where there is no other. */
  readonly least: bigint
  readonly run: Run
  readonly price?: InputPrice
  /** Number of first bytes of an input that tell the result; of all by default, where the price grows with them. */
  readonly reads?: (data: Uint8Array) => number
}

export interface PrecompileCall {
  /** May be a view of memory that changes later. */
  readonly data: Uint8Array
  readonly gas: bigint
  readonly fork: EvmFork
  /** The network's own price; undefined: that of the fork. */
  readonly price: PrecompilePrice | undefined
  readonly check: Check
}

export interface PrecompileResult {
  readonly output: Uint8Array
  readonly gasUsed: bigint
  readonly failure: PrecompileReason | undefined
}

/** Runs a precompile when its price is paid. */
export const callPrecompile = (
  { least, price, run, reads }: Precompile,
  { data: whole, gas, fork, price: own, check }: PrecompileCall,
): PrecompileResult | Promise<PrecompileResult> => {
  const failed = (failure: PrecompileReason): PrecompileResult => ({ output: EMPTY_BYTES, gasUsed: gas, failure })
  const given = own === undefined ? gas : gasForWork(own, gas)
  if (given === undefined) return failed(PRECOMPILE_REASON.outOfGas)
  const data = reads === undefined ? whole : whole.subarray(0, reads(whole))
  const used = price?.(data, fork) ?? least
  if (typeof used === 'string') return failed(used)
  if (used > given) return failed(PRECOMPILE_REASON.outOfGas)
  const settle = (outcome: PrecompileOutput): PrecompileResult =>
    typeof outcome === 'string'
      ? failed(outcome)
      : { output: outcome, gasUsed: own === undefined ? used : wholePrice(own, used), failure: undefined }
  // Copied once it is paid: megabytes that a caller has in memory cost it nothing to pass on.
  const outcome = run(new Uint8Array(data), check)
  return outcome instanceof Promise ? outcome.then(settle) : settle(outcome)
}

/** Runs work in time slices. */
export const inSlices =
  (work: (data: Uint8Array) => SlicedWork<PrecompileOutput>): Run =>
  (data, check) =>
    runSlicedWork(work(data), check)

/** Price that a fork changed. */
export const priceSince = (fork: EvmFork, price: bigint, before: bigint): InputPrice => {
  return (_, at) => (isForkSince(at, fork) ? price : before)
}

const WORD_BYTES = 32

export const pricePerWord =
  (fixed: bigint, word: bigint): InputPrice =>
  data =>
    fixed + word * BigInt(Math.ceil(data.byteLength / WORD_BYTES))

/** Returns bytes from..from + size of the input, padded with zeros. */
export const inputSlice = (data: Uint8Array, from: number, size: number): Uint8Array => {
  const given = data.subarray(from, from + size)
  if (given.byteLength === size) return given
  const padded = new Uint8Array(size)
  padded.set(given)
  return padded
}

/** Word with this last byte. */
export const flagWord = (isSet: boolean): Uint8Array => {
  const word = new Uint8Array(WORD_BYTES)
  word[WORD_BYTES - 1] = isSet ? 1 : 0
  return word
}
