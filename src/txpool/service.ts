import { keccak256Hex } from '../crypto/hash.ts'
import type { Sender } from '../crypto/sender.ts'
import { type DecodedTransaction, decodeTransaction, type Transaction, withSender } from '../primitives/transaction.ts'
import type { Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import { CodedError, isCoded } from '../util/errors.ts'
import type { Logger } from '../util/logger.ts'
import type { Nonce } from '../util/nonce.ts'
import type { PoolError } from './errors.ts'
import { InOrder } from './in-order.ts'
import type { Journal } from './journal.ts'
import type { PoolMetrics } from './metrics.ts'
import { checkSize } from './pool/checks.ts'
import type { Selection } from './pool/selection.ts'
import type { Origin, PoolBlock, PoolContent, TxPool } from './pool.ts'

export interface PoolServiceOptions {
  readonly pool: TxPool
  readonly recovery: { recover(raw: Uint8Array): Promise<Sender> }
  readonly clock: Clock
  readonly logger: Logger
  /** Left out: local transactions do not survive a restart. */
  readonly journal?: Journal
  readonly metrics?: PoolMetrics
}

/** Transactions read from the journal that are under way at once. */
const REPLAY_CHUNK = 1_024
/** A view of a larger buffer than this would keep the whole request in memory for one transaction. */
const SHARED_BUFFER_BYTES = 16 * 1024

/**
 * The pool for the rest of the node: turns bytes into transactions, recovers senders off this thread, journals local ones before they
 * are acknowledged, and tells listeners what became executable. Satisfies `PoolPort` of the chain's types.
 */
export class PoolService {
  readonly #options: PoolServiceOptions
  readonly #pool: TxPool
  readonly #order = new InOrder()
  readonly #underWay = new Map<Hex, Promise<Hex>>()
  readonly #listeners = new Set<(transaction: Transaction) => void>()

  constructor(options: PoolServiceOptions) {
    this.#options = options
    this.#pool = options.pool
  }

  /** Admits what the journal kept; what no longer fits is dropped. */
  async start(): Promise<void> {
    const { journal, logger } = this.#options
    if (journal === undefined) return
    const raws = await journal.load()
    let restored = 0
    for (let at = 0; at < raws.length; at += REPLAY_CHUNK) {
      const chunk = raws.slice(at, at + REPLAY_CHUNK).map(raw => this.#take(raw, 'restored'))
      for (const result of await Promise.allSettled(chunk)) {
        if (result.status === 'fulfilled') restored++
        else if (!isCoded(result.reason)) throw result.reason
      }
    }
    await journal.rewrite()
    if (raws.length > 0)
      logger.info({ restored, dropped: raws.length - restored }, 'transactions restored from the journal')
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
    await this.#options.journal?.close()
  }

  /** A transaction given to this node: answers its hash when it is pooled and journaled. Throws CodedError<PoolError | DecodeError>. */
  submit(raw: Uint8Array): Promise<Hex> {
    return this.#measured(raw, 'local')
  }

  /** A transaction a peer told us of. */
  receive(raw: Uint8Array): Promise<Hex> {
    return this.#measured(raw, 'remote')
  }

  get(hash: Hex): Transaction | undefined {
    return this.#pool.get(hash)
  }

  nextNonce(address: Hex): Nonce {
    return this.#pool.nextNonce(address)
  }

  counts(): { readonly pending: number; readonly queued: number } {
    return this.#pool.counts()
  }

  content(): PoolContent {
    return this.#pool.content()
  }

  select(baseFee?: bigint): Selection {
    return this.#pool.select(baseFee)
  }

  /** Lets go of transactions, also for a restart; false: none of them was there. */
  async drop(hashes: readonly Hex[]): Promise<boolean> {
    const dropped = hashes.filter(hash => this.#pool.discard(hash))
    if (dropped.length > 0) await this.#options.journal?.rewrite()
    return dropped.length > 0
  }

  /** Lets go of everything, also for a restart, and of what was in blocks that are taken back; false: nothing waited. */
  async clear(): Promise<boolean> {
    const { pending, queued } = this.#pool.content()
    const waiting = [...pending.values(), ...queued.values()].flat()
    for (const { hash } of waiting) this.#pool.discard(hash)
    // The file names transactions until it is rewritten, whatever became of them.
    await this.#options.journal?.rewrite()
    return waiting.length > 0
  }

  /** To be called once per committed block, after the head state moved. */
  onBlock(block: PoolBlock): void {
    this.#notify(this.#pool.onBlock(block))
  }

  /** Called once for each transaction when it first becomes executable; the answer unsubscribes. */
  onPending(listener: (transaction: Transaction) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #measured(raw: Uint8Array, origin: 'local' | 'remote'): Promise<Hex> {
    const { metrics } = this.#options
    const startedMs = performance.now()
    let result = 'failed'
    try {
      const hash = await this.#take(raw, origin)
      result = 'accepted'
      return hash
    } catch (error) {
      if (isCoded(error)) result = error.code
      throw error
    } finally {
      metrics?.submitted(origin, result, (performance.now() - startedMs) / 1e3)
    }
  }

  /** The same bytes submitted again while the first are under way wait for them: one recovery, and one of them is the first. */
  async #take(bytes: Uint8Array, origin: Origin): Promise<Hex> {
    checkSize(bytes.byteLength)
    const raw = bytes.buffer.byteLength > Math.max(SHARED_BUFFER_BYTES, 2 * bytes.byteLength) ? bytes.slice() : bytes
    const decoded = decodeTransaction(raw)
    const hash = keccak256Hex(raw)
    if (this.#pool.has(hash)) throw alreadyKnown(hash)
    const first = this.#underWay.get(hash)
    if (first !== undefined) throw alreadyKnown(await first)
    this.#pool.precheck(decoded, origin)
    const result = this.#recoverAndAdmit(decoded, origin)
    this.#underWay.set(hash, result)
    try {
      return await result
    } finally {
      this.#underWay.delete(hash)
    }
  }

  async #recoverAndAdmit(decoded: DecodedTransaction, origin: Origin): Promise<Hex> {
    const { recovery, clock, journal } = this.#options
    const transaction = await this.#order.run(recovery.recover(decoded.raw), sender => {
      const transaction = withSender(decoded, sender)
      const { executable } = this.#pool.admit(transaction, clock.nowMs(), origin)
      this.#notify(executable)
      return transaction
    })
    if (origin === 'local') await journal?.append(transaction.raw)
    return transaction.hash
  }

  #notify(transactions: readonly Transaction[]): void {
    for (const transaction of transactions) {
      for (const listener of this.#listeners) {
        try {
          listener(transaction)
        } catch (error) {
          this.#options.logger.error({ err: error, hash: transaction.hash }, 'pending transaction listener failed')
        }
      }
    }
  }
}

const alreadyKnown = (hash: Hex): CodedError<PoolError> => new CodedError<PoolError>({ code: 'ALREADY_KNOWN', hash })
