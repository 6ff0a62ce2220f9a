import type { Hex } from '@tandem/base/bytes.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import type { HeightState } from '../core/types.ts'

export type EngineMode = 'stopped' | 'voting' | 'following' | 'quarantined' | 'failed'

export interface ConsensusStatus {
  readonly mode: EngineMode
  /** True while nothing is being proposed or decided: the open height waits. */
  readonly isIdle: boolean
  readonly number: number
  readonly round: number
  readonly committeeSize: number
  readonly quorum: number
  /** Votes seen in the current round. */
  readonly prepares: number
  readonly commits: number
  /** Members that keep the height from being decided: unreachable ones that are too many, or from round 2 on those not heard. */
  readonly missing: readonly Hex[]
  /** Number of messages in memory, of the open height and of later ones. */
  readonly held: number
  /** Number of blocks in memory of the open height. */
  readonly heldBlocks: number
  /** Blocks decided since start, and those decided in a round above 0. */
  readonly decided: number
  readonly decidedLate: number
  readonly roundChanges: number
  readonly evidence: number
  readonly rejectedMessages: number
  /** Milliseconds from the proposal (or the request, in instant mode) to the decision of the last block. */
  readonly lastDecisionMs: number
}

/** From this round on a member is taken as missing rather than slow. */
export const STALLED_ROUND = 2

/** The open height, as the status shows it. */
interface OpenHeight {
  readonly height: HeightState | null
  readonly heldForLater: number
  readonly missing: readonly Hex[]
}

/** Statistics of the engine since its start, for operators. */
export class ConsensusStats {
  decided = 0
  decidedLate = 0
  roundChanges = 0
  evidence = 0
  rejectedMessages = 0
  lastDecisionMs = 0

  countDecision(round: number, elapsedMs: number): void {
    this.decided++
    if (round > 0) this.decidedLate++
    this.lastDecisionMs = elapsedMs
  }

  /** Returns the status with the open height; `number` is used when there is none. */
  status(mode: EngineMode, { height, heldForLater, missing }: OpenHeight, number: number): ConsensusStatus {
    const size = height?.config.members.length ?? 0
    return {
      mode: mode === 'voting' && height?.config.index === -1 ? 'following' : mode,
      isIdle: height !== null && height.building === null && height.proposals.size === 0 && height.decided === null,
      number: height?.config.number ?? number,
      round: height?.round ?? 0,
      committeeSize: size,
      quorum: quorumOf(size),
      prepares: height === null ? 0 : [...height.prepares.senders(height.round)].length,
      commits: height === null ? 0 : [...height.commits.senders(height.round)].length,
      missing,
      held: heldForLater + (height === null ? 0 : heldBy(height)),
      heldBlocks: height?.blocks.size ?? 0,
      ...this,
    }
  }
}

/** Returns the members without a vote at this height. */
export const missingMembers = ({ config, prepares, roundChanges, round }: HeightState): readonly Hex[] => {
  const heard = new Set([...prepares.senders(round), ...roundChanges.keys(), config.index])
  return config.members.filter((_, index) => !heard.has(index))
}

const heldBy = ({ prepares, commits, roundChanges, proposals }: HeightState): number =>
  prepares.size + commits.size + roundChanges.size + proposals.size
