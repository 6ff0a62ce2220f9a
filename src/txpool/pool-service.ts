import { POOL_LIMITS } from '../config/limits/pool.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type SenderResult, senderOrThrow } from '../crypto/recovery/batch.ts'
import type { SenderRecovery } from '../crypto/recovery/sender-recovery.ts'
import {
  type DecodedTransaction,
  decodeTransaction,
  type Transaction,
  withSender,
} from '../primitives/transaction/transaction.ts'
import { copyBytes, type Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import { CodedError, isCoded, resultOrCoded } from '../util/errors.ts'
import type { Logger } from '../util/logger.ts'
import type { Nonce } from '../util/nonce.ts'
import type { PoolError } from './errors.ts'
import { decodeQuarantined, encodeQuarantined } from './journal/journal-format.ts'
import type { TransactionJournal } from './journal/transaction-journal.ts'
import type { PoolMetrics } from './metrics.ts'
import { OrderedResults } from './ordered-results.ts'
import { checkSize } from './pool/admission.ts'
import type { Selection } from './pool/selection.ts'
import type { QuarantinedTransaction } from './pool/transaction-quarantine.ts'
import type { Origin, PoolBlock, PoolContent } from './pool/types.ts'
import type { TxPool } from './pool.ts'
import type { PoolOverrun } from './ports.ts'

interface PoolServiceOptions {
  readonly pool: TxPool
  readonly recovery: Pick<SenderRecovery, 'recoverMany'>
  readonly clock: Clock
  readonly logger: Logger
  /** Omitted: local transactions do not survive a restart. */
  readonly journal?: TransactionJournal
  readonly metrics?: PoolMetrics
  readonly quarantineMs?: number
}

/** Hash of a pooled transaction, or the error that refused it. */
export type AdmitOutcome = Hex | CodedError

/** Transaction seen for the first time. */
interface Fresh {
  readonly decoded: DecodedTransaction
  readonly hash: Hex
}

/** Limit of journaled transactions admitted at once. */
const REPLAY_CHUNK = 1_024
/** Transactions in larger buffers are copied: a view would retain the whole request for one transaction. */
const SHARED_BUFFER_BYTES = 16 * 1024

/**
 * Pool service for the rest of the node: decodes transactions, recovers senders off this thread, journals local ones before they are
 * acknowledged, and notifies listeners of executable ones. Implements `PoolPort` of the chain's types.
 */
export class PoolService {
  readonly #options: PoolServiceOptions & { readonly quarantineMs: number }
  readonly #pool: TxPool
  readonly #order = new OrderedResults()
  /** Transactions under way, with a function that returns their outcome to a second submitter of the same bytes. */
  readonly #underWay = new Map<Hex, () => Promise<AdmitOutcome>>()
  readonly #listeners = new Set<(transaction: Transaction) => void>()

  constructor(options: PoolServiceOptions) {
    this.#options = { quarantineMs: POOL_LIMITS.quarantineMs, ...options }
    this.#pool = options.pool
  }

  /** Admits the journaled transactions; those that are no longer valid are dropped. */
  async start(): Promise<void> {
    const { journal, logger } = this.#options
    if (journal === undefined) return
    const raws = this.#quarantineFrom(await journal.load())
    let restored = 0
    for (let at = 0; at < raws.length; at += REPLAY_CHUNK) {
      const outcomes = await this.#take(raws.slice(at, at + REPLAY_CHUNK), 'restored')
      restored += outcomes.filter(admitOutcome => typeof admitOutcome === 'string').length
    }
    await journal.rewrite()
    if (raws.length > 0)
      logger.info({ restored, dropped: raws.length - restored }, 'transactions restored from the journal')
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()].map(outcome => outcome()))
    await this.#options.journal?.close()
  }

  /**
   * Submits a transaction to this node: returns its hash when it is pooled and journaled. `sender` is passed where this node signed it
   * itself, so no recovery is needed. Throws CodedError<PoolError | DecodeError>.
   */
  async submit(raw: Uint8Array, sender?: Hex): Promise<Hex> {
    const [admitOutcome] = await this.#measured([raw], 'local', sender)
    if (typeof admitOutcome === 'string') return admitOutcome
    throw admitOutcome
  }

  /** Admits transactions from peers; returns the outcome of each. */
  receive(raws: readonly Uint8Array[]): Promise<readonly AdmitOutcome[]> {
    return this.#measured(raws, 'remote')
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

  /** Drops transactions permanently, also from the journal; returns false when none of them was there. */
  async drop(hashes: readonly Hex[]): Promise<boolean> {
    const dropped = hashes.filter(hash => this.#pool.discard(hash))
    if (dropped.length > 0) await this.#options.journal?.rewrite()
    return dropped.length > 0
  }

  /** Drops all transactions permanently, also those of reverted blocks; returns false when nothing was waiting. */
  async clear(): Promise<boolean> {
    const { pending, queued } = this.#pool.content()
    const waiting = [...pending.values(), ...queued.values()].flat()
    for (const { hash } of waiting) this.#pool.discard(hash)
    this.#pool.forgetTrials()
    // The file contains transactions until it is rewritten, wherever they went.
    await this.#options.journal?.rewrite()
    return waiting.length > 0
  }

  /** Handles a transaction that was stopped while a block was built. One that had the maximum time is quarantined, also over a restart. */
  overran({ hash, from, nonce, gasLimit }: Transaction, { ranMs, isProven }: PoolOverrun): void {
    const { clock, logger, journal, quarantineMs } = this.#options
    const about = { hash, from, nonce, gasLimit, ranMs: Math.round(ranMs) }
    if (!isProven) {
      logger.debug(about, 'transaction stopped for lack of time: the next block of this node tries it first')
      this.#pool.retryFirst(hash)
      return
    }
    const untilMs = clock.nowMs() + quarantineMs
    logger.warn(
      { ...about, minutes: Math.round(quarantineMs / 60_000) },
      'transaction quarantined: it takes longer than a block of this node may',
    )
    this.#pool.quarantine({ hash, untilMs })
    // The journal logs disk errors; after such an error a restart may try the transaction once more.
    journal?.append(encodeQuarantined({ hash, untilMs })).catch(() => undefined)
  }

  /** Returns the hashes that this node's blocks exclude, pooled or not. */
  quarantined(): readonly QuarantinedTransaction[] {
    return this.#pool.quarantined()
  }

  /** Called once per committed block, after the head state moved. */
  onBlock(block: PoolBlock): void {
    this.#notify(this.#pool.onBlock(block))
  }

  /** Called once for each transaction when it first becomes executable; returns the unsubscribe function. */
  onPending(listener: (transaction: Transaction) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Restores the quarantine and returns the transactions. */
  #quarantineFrom(records: readonly Uint8Array[]): readonly Uint8Array[] {
    const nowMs = this.#options.clock.nowMs()
    return records.filter(record => {
      const quarantinedTransaction = decodeQuarantined(record)
      if (quarantinedTransaction !== undefined && quarantinedTransaction.untilMs > nowMs)
        this.#pool.quarantine(quarantinedTransaction)
      return quarantinedTransaction === undefined
    })
  }

  async #measured(
    raws: readonly Uint8Array[],
    origin: 'local' | 'remote',
    sender?: Hex,
  ): Promise<readonly AdmitOutcome[]> {
    const { metrics } = this.#options
    const startedMs = performance.now()
    const count = (results: readonly string[]): void => {
      const seconds = (performance.now() - startedMs) / 1e3
      for (const result of results) metrics?.submitted(origin, result, seconds)
    }
    try {
      const outcomes = await this.#take(raws, origin, sender)
      count(outcomes.map(admitOutcome => (typeof admitOutcome === 'string' ? 'accepted' : admitOutcome.code)))
      return outcomes
    } catch (error) {
      count(raws.map(() => 'failed'))
      throw error
    }
  }

  /** The same bytes submitted again while under way wait for the first outcome: one recovery for both. */
  async #take(raws: readonly Uint8Array[], origin: Origin, sender?: Hex): Promise<readonly AdmitOutcome[]> {
    const fresh: Fresh[] = []
    const taken = Promise.withResolvers<readonly AdmitOutcome[]>()
    // Possibly no other caller awaits it.
    taken.promise.catch(() => {})
    const begin = (raw: Uint8Array): number | AdmitOutcome | Promise<AdmitOutcome> => {
      const { decoded, hash } = open(raw)
      if (this.#pool.has(hash)) return alreadyKnown(hash)
      const first = this.#underWay.get(hash)
      if (first !== undefined)
        return first().then(admitOutcome => (isCoded(admitOutcome) ? admitOutcome : alreadyKnown(hash)))
      this.#pool.checkQuarantine(hash, this.#options.clock.nowMs(), origin)
      this.#pool.precheck(decoded, origin)
      const place = fresh.push({ decoded, hash }) - 1
      this.#underWay.set(hash, async () => (await taken.promise)[place] as AdmitOutcome)
      return place
    }
    try {
      const begun = raws.map(raw => resultOrCoded(() => begin(raw)))
      const outcomes = await this.#recoverAndAdmit(fresh, origin, sender)
      taken.resolve(outcomes)
      return await Promise.all(
        begun.map(found => (typeof found === 'number' ? (outcomes[found] as AdmitOutcome) : found)),
      )
    } catch (error) {
      taken.reject(error)
      throw error
    } finally {
      for (const { hash } of fresh) this.#underWay.delete(hash)
    }
  }

  /** Rejects with errors that are not caused by a transaction. */
  async #recoverAndAdmit(fresh: readonly Fresh[], origin: Origin, sender?: Hex): Promise<readonly AdmitOutcome[]> {
    if (fresh.length === 0) return []
    const { recovery, clock, journal } = this.#options
    const raws = fresh.map(({ decoded }) => decoded.raw)
    const senders =
      sender === undefined ? recovery.recoverMany(raws, 'singles') : fresh.map(({ hash }) => ({ hash, from: sender }))
    const admit = ({ decoded }: Fresh, found: SenderResult | undefined): AdmitOutcome => {
      const transaction = withSender(decoded, senderOrThrow(found))
      const { executable } = this.#pool.admit(transaction, clock.nowMs(), origin)
      this.#notify(executable)
      return transaction.hash
    }
    try {
      const outcomes = await this.#order.run(Promise.resolve(senders), results =>
        fresh.map((one, at) => resultOrCoded(() => admit(one, results[at]))),
      )
      if (origin === 'local' && journal !== undefined)
        await Promise.all(
          outcomes.map((outcome, at) => (isCoded(outcome) ? undefined : journal.append(raws[at] as Uint8Array))),
        )
      return outcomes
    } catch (error) {
      // The recovery has no room, or is closed.
      if (isCoded(error)) return fresh.map(() => error)
      throw error
    }
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

/** Throws CodedError<PoolError | DecodeError>. */
const open = (bytes: Uint8Array): Fresh => {
  checkSize(bytes.byteLength)
  const raw = bytes.buffer.byteLength > Math.max(SHARED_BUFFER_BYTES, 2 * bytes.byteLength) ? copyBytes(bytes) : bytes
  return { decoded: decodeTransaction(raw), hash: keccak256Hex(raw) }
}

const alreadyKnown = (hash: Hex): CodedError<PoolError> => new CodedError<PoolError>({ code: 'ALREADY_KNOWN', hash })
