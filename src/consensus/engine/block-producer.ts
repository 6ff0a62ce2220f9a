import { LIMITS } from '../../config/limits.ts'
import { assert } from '../../util/assert.ts'
import { waitUntil } from '../../util/async/delay.ts'
import type { Hex } from '../../util/bytes.ts'
import type { Effect, Input } from '../core/types.ts'
import type { BuildRequest, Head } from '../ports.ts'
import type { SignatureVerifier } from '../signer/signature-verifier.ts'
import { proposalTimestamp } from '../timing/block-time.ts'
import { AdaptiveBuildBudget } from '../timing/build-budget.ts'
import { BuildLead } from '../timing/build-lead.ts'
import { validateProposal } from './proposal-validator.ts'
import type { ConsensusEngineOptions } from './types.ts'

interface WorkbenchParts {
  readonly options: ConsensusEngineOptions
  readonly verifier: SignatureVerifier
  readonly head: () => Head
  /** Takes what came of the work. */
  readonly feed: (input: Input) => void
  /** What is said of the next input fed leaves only after this, which begins once it is durable. */
  readonly hold: (until: () => Promise<void>) => void
  readonly onError: (error: unknown) => void
}

interface Place {
  readonly number: number
  readonly round: number
}

/** When a block may be proposed, and whether anybody else votes on it. */
interface Slot {
  readonly dueMs: number
  readonly isAlone: boolean
}

/** The slow work of a height: blocks being built and proposals being judged. */
export class BlockProducer {
  readonly #parts: WorkbenchParts
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #budget: AdaptiveBuildBudget
  readonly #buildLead = new BuildLead()
  #building: AbortController | null = null
  /** By hash. */
  readonly #judging = new Map<Hex, AbortController>()
  #startedAtMs = 0

  constructor(parts: WorkbenchParts) {
    this.#parts = parts
    this.#budget = new AdaptiveBuildBudget(parts.options.params.roundTimeoutMs)
  }

  /** Since the last block began to be built or judged; that it waited for its time does not count. */
  get elapsedMs(): number {
    return this.#nowMs() - this.#startedAtMs
  }

  /** The block that was begun last was decided, by this node and others. */
  decided(): void {
    this.#budget.decided(this.elapsedMs)
  }

  /** A round with a proposal was given up. */
  missed(): void {
    this.#budget.missed()
  }

  /** How long before its time the next block should be begun. */
  get headStartMs(): number {
    return this.#buildLead.ms
  }

  /**
   * A block that is not proposed before `dueMs`. Where nobody else has a say it is signed and logged as soon as it is built, and only
   * leaves when it is due: then the disk has had its head start too.
   */
  build(place: Place, dueMs: number, isAlone: boolean): void {
    this.cancelBuild()
    const cancel = new AbortController()
    this.#building = cancel
    this.#run(this.#build(place, { dueMs, isAlone }, cancel.signal))
  }

  judge(proposal: Extract<Effect, { type: 'validate' }>): void {
    const cancel = new AbortController()
    this.#judging.set(proposal.block.hash, cancel)
    this.#run(this.#judge(proposal, cancel.signal))
  }

  /** Nothing comes of the block being built. */
  cancelBuild(): void {
    this.#building?.abort()
    this.#building = null
  }

  /** No verdict comes on this block, unless it is asked for again. */
  cancelValidation(hash: Hex): void {
    this.#judging.get(hash)?.abort()
    this.#judging.delete(hash)
  }

  cancelAll(): void {
    this.cancelBuild()
    for (const hash of [...this.#judging.keys()]) this.cancelValidation(hash)
  }

  /** Waits for no second any more; `settled` tells when the last work has ended: it reads state and database. */
  abort(): void {
    this.#stopping.abort()
    this.cancelAll()
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #run(work: Promise<void>): void {
    this.#startedAtMs = this.#nowMs()
    const task = work.catch(this.#parts.onError).finally(() => this.#running.delete(task))
    this.#running.add(task)
  }

  async #build({ number, round }: Place, { dueMs, isAlone }: Slot, cancelled: AbortSignal): Promise<void> {
    const { options, feed, hold } = this.#parts
    const startedMs = this.#nowMs()
    try {
      const block = await options.ports.execution.build(this.#request({ number, round }, { dueMs, isAlone }), cancelled)
      if (isAlone) hold(() => this.#untilDue(startedMs, dueMs, this.#stopping.signal))
      else await this.#untilDue(startedMs, dueMs, cancelled)
      if (!cancelled.aborted) feed({ type: 'built', number, round, block, nowMs: this.#nowMs() })
    } catch (error) {
      if (cancelled.aborted) return
      options.logger.error({ err: error, number, round }, 'block not built')
      feed({ type: 'buildFailed', number, round, nowMs: this.#nowMs() })
    }
  }

  #request({ number, round }: Place, { dueMs, isAlone }: Slot): BuildRequest {
    const { options, head } = this.#parts
    const { params, signer } = options
    assert(signer !== null, 'only a member builds')
    const { hash, timestamp, certificate } = head()
    return {
      number,
      round,
      parentHash: hash,
      timestamp: proposalTimestamp(params.blockTimeMs, timestamp, Math.max(dueMs, this.#nowMs())),
      proposer: signer.address,
      parentCertificate: certificate,
      budgetMs: this.#budget.ms,
      // Where nobody else has to run it, gas is bound enough.
      transactionMs: isAlone ? LIMITS.block.loneTransactionMs : this.#budget.transactionMs,
    }
  }

  /** The block begun at `startedMs` is ready. */
  async #untilDue(startedMs: number, dueMs: number, stopping: AbortSignal): Promise<void> {
    const readyMs = this.#nowMs()
    this.#buildLead.took(readyMs - startedMs)
    await waitUntil(this.#parts.options.clock, dueMs, stopping)
    // Unless a proposal of another round came meanwhile.
    if (this.#startedAtMs === startedMs) this.#startedAtMs += this.#nowMs() - readyMs
  }

  async #judge(
    { block, number, round, fresh }: Extract<Effect, { type: 'validate' }>,
    cancelled: AbortSignal,
  ): Promise<void> {
    const { options, verifier, head, feed } = this.#parts
    const context = { number, round, fresh }
    const proposalVerdict = await validateProposal(block, context, head(), options, verifier.recover, cancelled)
    if (cancelled.aborted) return
    this.#judging.delete(block.hash)
    if (!proposalVerdict.valid) {
      options.logger.warn({ number, round, hash: block.hash, reason: proposalVerdict.reason }, 'proposal rejected')
    }
    feed({ type: 'verdict', number, blockHash: block.hash, verdict: proposalVerdict, nowMs: this.#nowMs() })
  }

  #nowMs(): number {
    return this.#parts.options.clock.nowMs()
  }
}
