import type { Hex } from '@tandem/base/bytes.ts'
import { POOL_LIMITS } from '../config/limits/pool.ts'
import { keccak256Hex } from '../crypto/hash.ts'

/** Blocks between two tries, at most. */
const LONGEST_PAUSE = 64

/** Errors that a later head or try may end: of the sender's account, of forks that are not in force yet, of fees and room, of the recovery. */
const MAY_END: ReadonlySet<string> = new Set([
  'INSUFFICIENT_FUNDS',
  'SENDER_NOT_EOA',
  'TYPE_UNSUPPORTED',
  'NO_BLOBS',
  'PROTECTED_TOO_EARLY',
  'INIT_CODE_TOO_LARGE',
  'INTRINSIC_GAS',
  'UNDERPRICED',
  'POOL_FULL',
  'DELEGATED_IN_FLIGHT',
  'DELEGATED_NONCE_GAP',
  'AUTHORITY_RESERVED',
  'RECOVERY_QUEUE_FULL',
  'RECOVERY_FAILED',
  'RECOVERY_CLOSED',
])

/**
 * Journaled transactions that the pool refused at the start for what a later head may change: the head may have lost its newest block with
 * the power, or all of its blocks with the database. The journal keeps them, and they are tried again as recent blocks come.
 */
export class WaitingTransactions {
  readonly #raws = new Map<Hex, Uint8Array>()
  #pause = 1
  #blocksLeft = 0
  #triesLeft: number = POOL_LIMITS.lifetimeSweeps

  /** Keeps a refused transaction when a later head may accept it. */
  add(raw: Uint8Array, code: string): void {
    if (MAY_END.has(code)) this.#raws.set(keccak256Hex(raw), raw)
  }

  values(): IterableIterator<Uint8Array> {
    return this.#raws.values()
  }

  /** Removes a transaction; returns false when it was not there. */
  remove(hash: Hex): boolean {
    return this.#raws.delete(hash)
  }

  clear(): void {
    this.#raws.clear()
  }

  /** Called for each recent block: takes the transactions to try now, after pauses that grow. After the last try they are given up. */
  take(): readonly Uint8Array[] {
    if (this.#raws.size === 0 || this.#triesLeft === 0 || --this.#blocksLeft >= 0) return []
    this.#triesLeft--
    this.#blocksLeft = this.#pause - 1
    this.#pause = Math.min(LONGEST_PAUSE, 2 * this.#pause)
    return [...this.#raws.values()]
  }

  /** Handles the outcome of a try; undefined: it was accepted. */
  tried(raw: Uint8Array, code: string | undefined): void {
    if (code === undefined || !MAY_END.has(code) || this.#triesLeft === 0) this.remove(keccak256Hex(raw))
  }
}
