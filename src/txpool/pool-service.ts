import { Batcher } from '@tandem/base/async/batcher.ts'
import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { Mutex } from '@tandem/base/async/mutex.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError, isCoded, resultOrCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { POOL_LIMITS } from '../config/limits/pool.ts'
import { type SenderResult, senderOrThrow } from '../crypto/recovery/batch.ts'
import type { SenderRecovery } from '../crypto/recovery/sender-recovery.ts'
import { authorizationBytes } from '../primitives/transaction/delegation.ts'
import { type Transaction, withSender } from '../primitives/transaction/transaction.ts'
import type { PoolMetrics } from './metrics.ts'
import type { Selection } from './pool/selection.ts'
import type { Origin, PoolBlock, PoolContent } from './pool/types.ts'
import type { TxPool } from './pool.ts'
import {
  type AdmitOutcome,
  alreadyKnown,
  openSubmission,
  type PoolSubmission,
  submittedAgain,
} from './pool-submission.ts'
import type { TransactionJournal } from './transaction-journal.ts'

interface PoolServiceOptions {
  readonly pool: TxPool
  readonly recovery: Pick<SenderRecovery, 'recoverMany'>
  readonly clock: Clock
  readonly logger: Logger
  /** Omitted: local transactions do not survive a restart. */
  readonly journal?: TransactionJournal
  readonly metrics?: PoolMetrics
}

/** Limit of journaled transactions admitted at once. */
const REPLAY_CHUNK = 1_024
/** Local transactions at most that are recovered, admitted and journaled together. */
const LOCAL_BATCH = 64
/** Batches of local transactions whose senders are recovered at a time: one for each thread of two cores. */
const LOCAL_OVERLAP = 2

/**
 * Pool service for the rest of the node: decodes transactions, recovers senders off this thread, journals local ones before they are
 * acknowledged, and notifies listeners of executable ones.
 */
export class PoolService {
  readonly #options: PoolServiceOptions
  readonly #pool: TxPool
  /** Batches are admitted in the order of requests: a client that sends nonces 1, 2, 3 must not see 3 refused for a gap. */
  readonly #order = new Mutex()
  readonly #underWay = new Map<Hex, PoolSubmission>()
  /** Local submissions of this turn of the event loop, and of those before it while senders of earlier ones are recovered. */
  readonly #local = new Batcher<PoolSubmission>(LOCAL_BATCH, batch => this.#admitLocal(batch), LOCAL_OVERLAP)
  /** Set-code transactions that passed all other checks, by sender: their signers are recovered apart, so that others do not wait. */
  readonly #setCode = new FairQueue<SetCodeSubmission>({
    total: POOL_LIMITS.setCodeWaiting,
    owner: POOL_LIMITS.setCodeAuthorizations,
    displaces: true,
  })
  /** Set-code transactions of the journal, which bounds their number by its size. */
  readonly #restoredSetCode = new FairQueue<SetCodeSubmission>()
  #isRecoveringSigners = false
  readonly #listeners = new Set<(transaction: Transaction) => void>()
  #isRetrying = false

  constructor(options: PoolServiceOptions) {
    this.#options = options
    this.#pool = options.pool
  }

  /** Admits the journaled transactions; those that no later head can make valid are dropped. */
  async start(): Promise<void> {
    const { journal, logger } = this.#options
    if (journal === undefined) return
    const raws = await journal.load()
    let restored = 0
    await this.#restore(raws, (raw, code) => (code === undefined ? restored++ : journal.waiting.add(raw, code)))
    await journal.rewrite()
    const waiting = [...journal.waiting.values()].length
    if (raws.length > 0)
      logger.info(
        { restored, waiting, dropped: raws.length - restored - waiting },
        'transactions restored from the journal',
      )
  }

  /** Admits transactions of the journal and hands over the error code of each, undefined for an admitted one. */
  async #restore(
    raws: readonly Uint8Array[],
    done: (raw: Uint8Array, code: string | undefined) => unknown,
  ): Promise<void> {
    for (let at = 0; at < raws.length; at += REPLAY_CHUNK) {
      const chunk = raws.slice(at, at + REPLAY_CHUNK)
      const outcomes = await this.#take(chunk, 'restored')
      for (const [index, outcome] of outcomes.entries())
        done(chunk[index] as Uint8Array, isCoded(outcome) ? outcome.code : undefined)
    }
  }

  /** Called for each recent block: tries journaled transactions again that the pool refused at the start. */
  async retryWaiting(): Promise<void> {
    const { journal, logger } = this.#options
    if (journal === undefined || this.#isRetrying) return
    this.#isRetrying = true
    try {
      await this.#restore(journal.waiting.take(), (raw, code) => journal.waiting.tried(raw, code))
    } catch (error) {
      logger.warn({ err: error }, 'transactions of the journal not tried again')
    } finally {
      this.#isRetrying = false
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()].map(({ outcome }) => outcome))
    await this.#options.journal?.close()
  }

  /** Submits a transaction: its hash, once pooled and journaled. `sender`: if this node signed it. Throws CodedError<PoolError | DecodeError>. */
  async submit(raw: Uint8Array, sender?: Hex): Promise<Hex> {
    const startedMs = performance.now()
    let result = 'failed'
    try {
      const begun = this.#begin(raw, 'local', submission => this.#local.add(submission), sender)
      const outcome = begun instanceof Promise ? await begun : begun
      result = resultOf(outcome)
      if (typeof outcome === 'string') return outcome
      throw outcome
    } finally {
      this.#options.metrics?.submitted('local', result, (performance.now() - startedMs) / 1e3)
    }
  }

  /** Admits transactions from peers; returns the outcome of each. */
  async receive(raws: readonly Uint8Array[]): Promise<readonly AdmitOutcome[]> {
    const startedMs = performance.now()
    const count = (results: readonly string[]): void => {
      const seconds = (performance.now() - startedMs) / 1e3
      for (const result of results) this.#options.metrics?.submitted('remote', result, seconds)
    }
    try {
      const outcomes = await this.#take(raws, 'remote')
      count(outcomes.map(resultOf))
      return outcomes
    } catch (error) {
      count(raws.map(() => 'failed'))
      throw error
    }
  }

  get(hash: Hex): Transaction | undefined {
    return this.#pool.get(hash)
  }

  /** Returns the next nonce, counting the pool's executable transactions. */
  nextNonce(address: Hex): Nonce {
    return this.#pool.nextNonce(address)
  }

  counts(): { readonly pending: number; readonly queued: number } {
    return this.#pool.counts()
  }

  /** Returns true when a block would try a transaction now. */
  hasCandidate(): boolean {
    return this.#pool.hasCandidate(this.#options.clock.nowMs())
  }

  content(): PoolContent {
    return this.#pool.content()
  }

  select(baseFee?: bigint): Selection {
    return this.#pool.select(baseFee)
  }

  /** Returns the candidates of a block that this node builds. */
  candidates(baseFee: bigint) {
    const pool = this.#pool
    const { clock, logger, metrics } = this.#options
    const selection = pool.selectForBlock(baseFee)
    return {
      longestWaiting: selection.longestWaiting,
      next: () => selection.next(),
      skipSender: (transaction: Transaction) => selection.skipSender(transaction),
      neededMs: (transaction: Transaction) => pool.neededMs(transaction, clock.nowMs()),
      passedOver: (transaction: Transaction) => pool.passedOver(transaction, clock.nowMs()),
      overran(transaction: Transaction, ranMs: number) {
        const { hash, from, nonce, gasLimit } = transaction
        logger.debug({ hash, from, nonce, gasLimit, ranMs: Math.round(ranMs) }, 'transaction stopped for lack of time')
        metrics?.overran()
        pool.overran(transaction, ranMs, clock.nowMs())
      },
    }
  }

  /** Drops transactions permanently, also from the journal; returns false when none of them was there. */
  async drop(hashes: readonly Hex[]): Promise<boolean> {
    const { journal } = this.#options
    const dropped = hashes.filter(hash => [this.#pool.discard(hash), journal?.waiting.remove(hash)].includes(true))
    if (dropped.length > 0) await journal?.rewrite()
    return dropped.length > 0
  }

  /** Drops all transactions permanently, also those of reverted blocks; returns false when nothing was waiting. */
  async clear(): Promise<boolean> {
    const { pending, queued } = this.#pool.content()
    const waiting = [...pending.values(), ...queued.values()].flat()
    for (const { hash } of waiting) this.#pool.discard(hash)
    this.#pool.forgetOverruns()
    this.#options.journal?.waiting.clear()
    // The file contains transactions until it is rewritten, wherever they went.
    await this.#options.journal?.rewrite()
    return waiting.length > 0
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

  /** Admits transactions that came together. */
  async #take(raws: readonly Uint8Array[], origin: Origin): Promise<readonly AdmitOutcome[]> {
    const batch: PoolSubmission[] = []
    const begun = raws.map(raw => this.#begin(raw, origin, submission => batch.push(submission)))
    if (batch.length > 0) void this.#admitBatch(batch, this.#senders(batch), origin)
    return Promise.all(begun)
  }

  /** Runs the checks that need no sender and queues the recovery; the same bytes meanwhile wait for the first outcome. */
  #begin(
    raw: Uint8Array,
    origin: Origin,
    queue: (submission: PoolSubmission) => void,
    sender?: Hex,
  ): AdmitOutcome | Promise<AdmitOutcome> {
    return resultOrCoded(() => {
      const submission = openSubmission(raw, sender)
      const { decoded, hash } = submission
      const first = this.#underWay.get(hash)
      if (first !== undefined) return submittedAgain(first)
      if (this.#pool.has(hash)) return origin === 'local' ? this.#knownLocal(hash) : alreadyKnown(hash)
      this.#pool.precheck(decoded, origin)
      this.#underWay.set(hash, submission)
      queue(submission)
      return submission.outcome
    })
  }

  /** After a failed write, a transaction that is sent again is accepted once the journal has all that the pool holds. */
  #knownLocal(hash: Hex): AdmitOutcome | Promise<AdmitOutcome> {
    const { journal } = this.#options
    if (journal?.isBehind !== true) return alreadyKnown(hash)
    return journal.rewrite().then(() => hash, codedOrThrow)
  }

  /** Settles when the senders of the batch are known; its transactions are admitted after those of earlier batches. */
  #admitLocal(batch: readonly PoolSubmission[]): Promise<unknown> {
    const senders = this.#senders(batch)
    void this.#admitBatch(batch, senders, 'local')
    return senders
  }

  /** Settles every submission of the batch, and rejects those that an error prevented which no transaction caused. */
  async #admitBatch(
    batch: readonly PoolSubmission[],
    senders: Promise<readonly SenderResult[]>,
    origin: Origin,
  ): Promise<void> {
    // They may fail while an earlier batch is waited for.
    senders.catch(() => {})
    try {
      const outcomes = await this.#order.run(async () => {
        const found = await senders
        return batch.map((submission, at) => resultOrCoded(() => this.#admitSender(submission, found[at], origin)))
      })
      const settled = batch.filter((_, at) => outcomes[at] !== undefined)
      await this.#settle(
        settled,
        outcomes.filter(outcome => outcome !== undefined),
        origin,
      )
    } catch (error) {
      // A coded error: the recovery has no room, or is closed.
      this.#fail(batch, error)
    }
  }

  /** Settles submissions with their outcomes, local ones when they are on disk. */
  async #settle(batch: readonly PoolSubmission[], outcomes: readonly AdmitOutcome[], origin: Origin): Promise<void> {
    try {
      const failure = origin === 'local' ? await this.#journal(batch, outcomes) : undefined
      for (const [at, { settle, hash }] of batch.entries()) {
        const outcome = outcomes[at] as AdmitOutcome
        this.#underWay.delete(hash)
        settle(isCoded(outcome) ? outcome : (failure ?? outcome))
      }
    } catch (error) {
      // Only these: a set-code transaction of the same batch goes on.
      this.#fail(batch, error)
    }
  }

  #fail(batch: readonly PoolSubmission[], error: unknown): void {
    for (const { settle, fail, hash } of batch) {
      this.#underWay.delete(hash)
      isCoded(error) ? settle(error) : fail(error)
    }
  }

  /** Returns the senders of a batch in its order; only unknown ones are recovered. */
  async #senders(batch: readonly PoolSubmission[]): Promise<readonly SenderResult[]> {
    const { recovery } = this.#options
    const unknown = batch.filter(({ sender }) => sender === undefined)
    const recovered = unknown.length === 0 ? [] : await recovery.recoverMany(unknown.map(rawOf), 'singles')
    let next = 0
    return batch.map(({ hash, sender }) =>
      sender === undefined ? (recovered[next++] as SenderResult) : { hash, from: sender },
    )
  }

  /** Admits a transaction whose sender is known. Returns undefined for a set-code one, whose signers are recovered first. */
  #admitSender(submission: PoolSubmission, found: SenderResult | undefined, origin: Origin): Hex | undefined {
    const { decoded, hash } = submission
    const { from } = senderOrThrow(found)
    const transaction = withSender(decoded, { hash, from })
    if (transaction.type !== 4) return this.#admit(transaction, origin)
    this.#pool.check(transaction, origin)
    const queue = origin === 'restored' ? this.#restoredSetCode : this.#setCode
    const refused = queue.push(from, { submission, transaction, origin }, transaction.authorizationList?.length)
    const limit = POOL_LIMITS.setCodeWaiting
    if (refused !== undefined)
      this.#fail([refused.item.submission], new CodedError({ code: 'RECOVERY_QUEUE_FULL', limit }))
    void this.#recoverSigners()
    return undefined
  }

  /** Admits the set-code transactions that wait, one after the other. */
  async #recoverSigners(): Promise<void> {
    if (this.#isRecoveringSigners) return
    this.#isRecoveringSigners = true
    const next = () => (this.#restoredSetCode.shift(anyOne) ?? this.#setCode.shift(anyOne))?.item
    for (let item = next(); item !== undefined; item = next()) {
      const { submission, transaction, origin } = item
      try {
        // Others may have been admitted meanwhile.
        const outcome = await this.#admitSetCode(transaction, origin).catch(codedOrThrow)
        await this.#settle([submission], [outcome], origin)
      } catch (error) {
        this.#fail([submission], error)
      }
    }
    this.#isRecoveringSigners = false
  }

  async #admitSetCode(transaction: Transaction, origin: Origin): Promise<Hex> {
    this.#pool.check(transaction, origin)
    const raws = (transaction.authorizationList ?? []).map(authorizationBytes)
    const recovered = await this.#options.recovery.recoverMany(raws, 'singles')
    const signers = recovered.map(result => (isCoded(result) ? undefined : result.from))
    return this.#admit(transaction, origin, signers)
  }

  #admit(transaction: Transaction, origin: Origin, signers?: readonly (Hex | undefined)[]): Hex {
    this.#notify(this.#pool.admit(transaction, origin, signers).executable)
    return transaction.hash
  }

  /** Resolves when the admitted transactions are on disk, with the error if they are not. */
  async #journal(batch: readonly PoolSubmission[], outcomes: readonly AdmitOutcome[]): Promise<CodedError | undefined> {
    const { journal } = this.#options
    const admitted = batch.filter((_, at) => !isCoded(outcomes[at]))
    if (journal === undefined || admitted.length === 0) return undefined
    try {
      await journal.append(...admitted.map(rawOf))
      return undefined
    } catch (error) {
      return codedOrThrow(error)
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

const codedOrThrow = (error: unknown): CodedError => {
  if (isCoded(error)) return error
  throw error
}

const rawOf = ({ decoded }: PoolSubmission): Uint8Array => decoded.raw

const anyOne = (): boolean => true

interface SetCodeSubmission {
  readonly submission: PoolSubmission
  readonly transaction: Transaction
  readonly origin: Origin
}

/** Transaction pool, as the servers use it. */
export type ClientPoolPort = Pick<PoolService, 'submit' | 'get' | 'nextNonce' | 'counts' | 'content' | 'onPending'>

/** Label of an outcome in the metrics. */
const resultOf = (outcome: AdmitOutcome): string => (typeof outcome === 'string' ? 'accepted' : outcome.code)
