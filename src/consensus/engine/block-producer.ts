import { assert } from '@tandem/base/assert.ts'
import { CANCELLED } from '@tandem/base/async/cancelled.ts'
import { waitUntil } from '@tandem/base/async/delay.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import type { Block } from '../../primitives/block.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import type { SigningDomain } from '../../primitives/consensus/vote.ts'
import { maxTimestamp } from '../../rules/header.ts'
import { certificateFault, type RecoverAddress } from '../certificate.ts'
import type { Effect, Input, RoundPlace } from '../core/types.ts'
import type { BuildRequest, CommitteePort, Head, ProposalVerdict, ValidateContext } from '../ports.ts'
import type { SignatureVerifier } from '../signer/signature-verifier.ts'
import { AdaptiveBuildBudget, BuildLead } from '../timing/build-budget.ts'
import { proposalTimestamp } from '../timing/pacemaker.ts'
import type { ConsensusEngineOptions } from './types.ts'

interface BlockProducerParts {
  readonly options: ConsensusEngineOptions
  readonly verifier: SignatureVerifier
  readonly head: () => Head
  /** Receives the results of builds and validations. */
  readonly feed: (input: Input) => void
  /** Delays the messages of the next input until this has resolved; it starts once they are durable. */
  readonly hold: (until: () => Promise<void>) => void
  readonly onError: (error: unknown) => void
}

/** Earliest proposal time, and whether this node is the only voter. */
interface Slot {
  readonly dueMs: number
  readonly isAlone: boolean
}

/** Slow work of a height: builds blocks and validates proposals. */
export class BlockProducer {
  readonly #parts: BlockProducerParts
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #budget: AdaptiveBuildBudget
  readonly #buildLead = new BuildLead()
  #building: AbortController | null = null
  /** Validations under way, by block hash. */
  readonly #validations = new Map<Hex, AbortController>()
  #startedAtMs = 0

  constructor(parts: BlockProducerParts) {
    this.#parts = parts
    this.#budget = new AdaptiveBuildBudget(parts.options.params.roundTimeoutMs)
  }

  /** Milliseconds since the last build or validation began, without the wait for the block's time. */
  get elapsedMs(): number {
    return this.#nowMs() - this.#startedAtMs
  }

  /** The block last built or validated was decided. */
  decided(): void {
    this.#budget.decided(this.elapsedMs)
  }

  /** A round with a proposal was given up. */
  missed(): void {
    this.#budget.missed()
  }

  /** Milliseconds before the block time at which the next build should start. */
  get headStartMs(): number {
    return this.#parts.options.params.isDevelopment === true ? 0 : this.#buildLead.ms
  }

  /** Builds a block proposed at `dueMs` at the earliest; a lone voter signs and logs it as soon as it is built, ahead of time. */
  build(place: RoundPlace, dueMs: number, isAlone: boolean): void {
    this.cancelBuild()
    const cancel = new AbortController()
    this.#building = cancel
    this.#run(this.#build(place, { dueMs, isAlone }, cancel.signal))
  }

  validate(proposal: Extract<Effect, { type: 'validate' }>): void {
    const cancel = new AbortController()
    this.#validations.set(proposal.block.hash, cancel)
    this.#run(this.#validate(proposal, cancel.signal))
  }

  /** Cancels the build under way; it produces no input. */
  cancelBuild(): void {
    this.#building?.abort(CANCELLED)
    this.#building = null
  }

  /** Cancels the validation of this block; no verdict follows unless it is requested again. */
  cancelValidation(hash: Hex): void {
    this.#validations.get(hash)?.abort(CANCELLED)
    this.#validations.delete(hash)
  }

  cancelAll(): void {
    this.cancelBuild()
    for (const hash of [...this.#validations.keys()]) this.cancelValidation(hash)
  }

  /** Cancels all work. */
  abort(): void {
    this.#stopping.abort(CANCELLED)
    this.cancelAll()
  }

  /** Resolves when the last work, which reads state and database, has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #run(work: Promise<void>): void {
    this.#startedAtMs = this.#nowMs()
    const task = work.catch(this.#parts.onError).finally(() => this.#running.delete(task))
    this.#running.add(task)
  }

  async #build({ number, round }: RoundPlace, { dueMs, isAlone }: Slot, cancelled: AbortSignal): Promise<void> {
    const { options, feed, hold } = this.#parts
    const startedMs = this.#nowMs()
    try {
      const block = await options.ports.execution.build(this.#request({ number, round }, { dueMs, isAlone }), cancelled)
      this.#logTime('block built', { number, round }, block, startedMs)
      if (isAlone) hold(() => this.#untilDue(startedMs, dueMs, this.#stopping.signal))
      else await this.#untilDue(startedMs, dueMs, cancelled)
      if (!cancelled.aborted) feed({ type: 'built', number, round, block, nowMs: this.#nowMs() })
    } catch (error) {
      if (cancelled.aborted) return
      options.logger.error({ err: error, number, round }, 'block not built')
      feed({ type: 'buildFailed', number, round, nowMs: this.#nowMs() })
    }
  }

  #request({ number, round }: RoundPlace, { dueMs, isAlone }: Slot): BuildRequest {
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
      // In a committee of one no other validator executes it, so the gas limit is bound enough.
      budgetMs: isAlone ? BUILD_LIMITS.buildMs : this.#budget.ms,
      transactionMs: isAlone ? BUILD_LIMITS.loneTransactionMs : this.#budget.transactionMs,
      gasShare: isAlone ? 1 : this.#budget.gasShare,
    }
  }

  /** Called when the block whose build began at `startedMs` is ready. */
  async #untilDue(startedMs: number, dueMs: number, stopping: AbortSignal): Promise<void> {
    const readyMs = this.#nowMs()
    this.#buildLead.took(readyMs - startedMs)
    await waitUntil(this.#parts.options.clock, dueMs, stopping)
    // Unless a proposal of another round arrived meanwhile.
    if (this.#startedAtMs === startedMs) this.#startedAtMs += this.#nowMs() - readyMs
  }

  async #validate(
    { block, number, round, fresh }: Extract<Effect, { type: 'validate' }>,
    cancelled: AbortSignal,
  ): Promise<void> {
    const { options, verifier, head, feed } = this.#parts
    const context = { number, round, fresh }
    const startedMs = this.#nowMs()
    const proposalVerdict = await validateProposal(block, context, head(), options, verifier.recover, cancelled)
    if (cancelled.aborted) return
    this.#validations.delete(block.hash)
    this.#logTime('proposal validated', { number, round }, block, startedMs)
    if (!proposalVerdict.valid) {
      const proposer = readExtraData(block.header)?.proposer
      options.logger.warn(
        { number, round, hash: block.hash, proposer, reason: proposalVerdict.reason },
        'proposal rejected',
      )
    }
    feed({ type: 'verdict', number, blockHash: block.hash, verdict: proposalVerdict, nowMs: this.#nowMs() })
  }

  /** Tells at the lowest level how long a block took this node: the first thing to compare between nodes after a round change. */
  #logTime(message: string, place: RoundPlace, { hash, header, transactions }: Block, startedMs: number): void {
    const ms = Math.round(this.#nowMs() - startedMs)
    const { gasUsed } = header
    this.#parts.options.logger.debug({ ...place, hash, transactions: transactions.length, gasUsed, ms }, message)
  }

  #nowMs(): number {
    return this.#parts.options.clock.nowMs()
  }
}

const invalidProposal = (proven: boolean, reason: string): ProposalVerdict => ({ valid: false, proven, reason })

/** Returns the fault of a proposed block that consensus itself checks before execution; null when there is none. */
const consensusFault = (
  block: Block,
  { number }: ValidateContext,
  head: Head,
  committees: CommitteePort,
  domain: SigningDomain,
  recover: RecoverAddress,
): ProposalVerdict | null => {
  const extra = readExtraData(block.header)
  if (extra === undefined) return invalidProposal(true, 'extra data cannot be read')
  const { parentCertificate } = extra
  if (number === 1) return parentCertificate === null ? null : invalidProposal(true, 'a certificate of genesis')
  if (parentCertificate === null) return invalidProposal(true, 'no parent certificate')
  const committee = committees.committee(number - 1)
  if (committee === undefined) return invalidProposal(false, 'committee of the parent unknown')
  const parent = { number: number - 1, blockHash: head.hash }
  const fault = certificateFault(parentCertificate, parent, committee, domain, recover)
  return fault === null ? null : invalidProposal(true, `parent certificate: ${fault}`)
}

/** Validates a proposed block: the rules of consensus first, then the wait for its timestamp, then its execution. */
const validateProposal = async (
  block: Block,
  context: ValidateContext,
  head: Head,
  { ports, params, clock, logger }: ConsensusEngineOptions,
  recover: RecoverAddress,
  cancelled: AbortSignal,
): Promise<ProposalVerdict> => {
  const fault = consensusFault(block, context, head, ports.committee, params, recover)
  if (fault !== null) return fault
  if (!(await awaitTimestamp(block.header.timestamp, clock, cancelled)))
    return invalidProposal(false, 'timestamp in the future')
  try {
    return await ports.execution.validate(block, context, cancelled)
  } catch (error) {
    if (cancelled.aborted) return invalidProposal(false, 'cancelled')
    logger.error({ err: error, number: context.number }, 'proposal could not be validated')
    return invalidProposal(false, 'validation failed')
  }
}

/** Returns true when the timestamp is too far ahead of this node's clock to wait for. */
const isTooFarInFuture = (timestamp: number, nowMs: number): boolean => timestamp > maxTimestamp(nowMs)

/**
 * Waits for the timestamp of a block whose proposer's clock is slightly ahead; a block further ahead gets no vote, though it
 * is not permanently invalid (docs/design/consensus.md#pacing). Returns true to continue; a cancellation ends the wait.
 */
const awaitTimestamp = async (timestamp: number, clock: Clock, cancelled: AbortSignal): Promise<boolean> => {
  if (isTooFarInFuture(timestamp, clock.nowMs())) return false
  await waitUntil(clock, timestamp * 1000, cancelled)
  return !cancelled.aborted
}
