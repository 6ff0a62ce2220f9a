import { LIMITS } from '../config/limits.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type SenderResult, senderOrThrow } from '../crypto/recovery/batch.ts'
import type { SenderRecovery } from '../crypto/recovery/sender-recovery.ts'
import { type DecodedTransaction, decodeTransaction, type Transaction, withSender } from '../primitives/transaction.ts'
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
import type { Origin, PoolBlock, PoolContent, TxPool } from './pool.ts'
import type { PoolOverrun } from './ports.ts'

export interface PoolServiceOptions {
  readonly pool: TxPool
  readonly recovery: Pick<SenderRecovery, 'recoverMany'>
  readonly clock: Clock
  readonly logger: Logger
  /** Left out: local transactions do not survive a restart. */
  readonly journal?: TransactionJournal
  readonly metrics?: PoolMetrics
  readonly quarantineMs?: number
}

/** The hash of a pooled transaction, or why it is not. */
export type AdmitOutcome = Hex | CodedError

/** Seen for the first time. */
interface Fresh {
  readonly decoded: DecodedTransaction
  readonly hash: Hex
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
  readonly #options: PoolServiceOptions & { readonly quarantineMs: number }
  readonly #pool: TxPool
  readonly #order = new OrderedResults()
  /** Asked for what comes of it by whoever brings the same bytes again. */
  readonly #underWay = new Map<Hex, () => Promise<AdmitOutcome>>()
  readonly #listeners = new Set<(transaction: Transaction) => void>()

  constructor(options: PoolServiceOptions) {
    this.#options = { quarantineMs: LIMITS.pool.quarantineMs, ...options }
    this.#pool = options.pool
  }

  /** Admits what the journal kept; what no longer fits is dropped. */
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
   * A transaction given to this node: answers its hash when it is pooled and journaled. `sender` is given where this node signed itself and
   * nothing has to be recovered. Throws CodedError<PoolError | DecodeError>.
   */
  async submit(raw: Uint8Array, sender?: Hex): Promise<Hex> {
    const [admitOutcome] = await this.#measured([raw], 'local', sender)
    if (typeof admitOutcome === 'string') return admitOutcome
    throw admitOutcome
  }

  /** Transactions that peers told us of: what became of each. */
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
    this.#pool.forgetTrials()
    // The file names transactions until it is rewritten, whatever became of them.
    await this.#options.journal?.rewrite()
    return waiting.length > 0
  }

  /** A transaction was stopped while a block was built. One that had all the time there is waits, also after a restart. */
  overran({ hash, from, nonce, gasLimit }: Transaction, { ranMs, isProven }: PoolOverrun): void {
    const { clock, logger, journal, quarantineMs } = this.#options
    const about = { hash, from, nonce, gasLimit, ranMs: Math.round(ranMs) }
    if (!isProven) {
      logger.debug(about, 'transaction stopped for want of time: the next block of this node tries it first')
      this.#pool.retryFirst(hash)
      return
    }
    const untilMs = clock.nowMs() + quarantineMs
    logger.warn(
      { ...about, minutes: Math.round(quarantineMs / 60_000) },
      'transaction quarantined: it takes longer than a block of this node may',
    )
    this.#pool.quarantine({ hash, untilMs })
    // What the disk refuses is told by the journal; a restart may try it once more then.
    journal?.append(encodeQuarantined({ hash, untilMs })).catch(() => undefined)
  }

  /** Hashes that no block of this node tries, pooled or not. */
  quarantined(): readonly QuarantinedTransaction[] {
    return this.#pool.quarantined()
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

  /** Takes note of what is quarantined, and answers the transactions. */
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

  /** The same bytes brought again while the first are under way wait for them: one recovery, and one of them is the first. */
  async #take(raws: readonly Uint8Array[], origin: Origin, sender?: Hex): Promise<readonly AdmitOutcome[]> {
    const fresh: Fresh[] = []
    const taken = Promise.withResolvers<readonly AdmitOutcome[]>()
    // Perhaps nobody waits for it but this.
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

  /** Rejects with what is nobody's transaction's fault. */
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
