import { ForwardTime } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { HeightState } from '../core/types.ts'

/** How far a round came at this node, for an operator: the step that did not end, with the votes counted. */
export const roundProgress = (height: HeightState, round: number): string => {
  const { proposals, verdicts, accepted, prepares, commits, prepared, quorum } = height
  const proposal = proposals.get(round)
  if (proposal === undefined) return 'no proposal'
  const { hash } = proposal.block
  if (!accepted.has(round)) {
    const verdict = verdicts.get(hash)
    if (verdict === 'invalid') return 'proposal rejected'
    return typeof verdict === 'object' ? 'proposal not executed yet' : 'proposal not accepted'
  }
  if (prepared?.round !== round) return `${prepares.count(round, hash)} of ${quorum} prepares`
  return `${commits.count(round, hash)} of ${quorum} commits`
}

/** Reports heights that are not decided, each minute until they are, and the end of such a stall. */
export class StallMonitor {
  readonly #logger: Logger
  #number = 0
  #openedMs = 0
  /** Time of the last warning about the open height; undefined: there was none. */
  #warnedMs: number | undefined
  readonly #time = new ForwardTime()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** True after a warning about the open height. */
  get isStalled(): boolean {
    return this.#warnedMs !== undefined
  }

  /** A height is opened; the same one again after catching up brought no block. */
  opened(number: number, nowMs: number): void {
    if (number === this.#number) return
    const openedMs = this.#time.at(nowMs)
    if (this.#warnedMs !== undefined) {
      const seconds = Math.round((openedMs - this.#openedMs) / 1_000)
      this.#logger.info({ number: this.#number }, `deciding again after ${seconds} s`)
    }
    this.#number = number
    this.#openedMs = openedMs
    this.#warnedMs = undefined
  }

  /** Warns that the open height waits, at most once a minute. */
  waits(fields: object, message: string, nowMs: number): void {
    const atMs = this.#time.at(nowMs)
    if (this.#warnedMs !== undefined && atMs - this.#warnedMs < CONSENSUS_LIMITS.stallWarningMs) return
    this.#warn(fields, message, atMs)
  }

  /** Warns at once: a round was given up. */
  roundGivenUp(fields: object, message: string, nowMs: number): void {
    this.#warn(fields, message, this.#time.at(nowMs))
  }

  #warn(fields: object, message: string, atMs: number): void {
    this.#warnedMs = atMs
    this.#logger.warn({ ...fields, seconds: Math.round((atMs - this.#openedMs) / 1_000) }, message)
  }
}
