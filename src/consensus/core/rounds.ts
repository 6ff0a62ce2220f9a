import type { RoundChange } from '../../primitives/consensus/vote.ts'
import { cancelUnawaited } from './decide.ts'
import { persist, requestSignature } from './effects.ts'
import { endRequests } from './status.ts'
import type { CoreConfig, HeightState, StepContext } from './types.ts'

/** Round timeout T(r) = min(base * 2^min(r, 6), cap) (docs/design/consensus.md#timers). */
const roundTimeoutMs = (config: CoreConfig, round: number): number =>
  Math.min(config.baseTimeoutMs * 2 ** Math.min(round, config.maxTimeoutExponent), config.timeoutCapMs)

/** Starts the timer that gives up the current round, counted from `fromMs`. */
export const startRoundTimer = ({ config, height, out }: StepContext, fromMs: number): void => {
  const { round } = height
  const atMs = fromMs + roundTimeoutMs(config, round)
  out.push({ type: 'schedule', timer: 'round', number: height.config.number, round, atMs })
}

/**
 * Returns true when a quorum is known to have reached this round, by its round changes or by a proposal, which a quorum's round
 * changes justify. Without a quorum the round must not be given up: once timeouts reach the cap, a member ahead of the others by
 * less than one timeout would stay ahead for ever, and with other members silent its round change is the one that each round lacks.
 * So the first member waits for the last, and the last advances, or jumps, to the first.
 */
export const hasQuorumAtRound = ({ config, round, quorum, proposals, roundChanges }: HeightState): boolean => {
  if (round === 0 || proposals.has(round)) return true
  let count = 1
  for (const change of roundChanges.values()) if (change.sender !== config.index && change.round >= round) count++
  return count >= quorum
}

/** Records a round change. The one that completes the quorum starts the timer: the round begins for all at about that time. */
export const recordRoundChange = (ctx: StepContext, change: RoundChange): void => {
  const { height, nowMs } = ctx
  const before = hasQuorumAtRound(height)
  height.roundChanges.set(change.sender, change)
  if (!before && hasQuorumAtRound(height)) startRoundTimer(ctx, nowMs)
}

/** Enters a later round: logs it, starts its timer, and drops data that only old rounds needed. */
export const enterRound = (ctx: StepContext, round: number): void => {
  const { config, height } = ctx
  if (round <= height.round) return
  height.round = round
  height.opened = true
  cancelUnawaited(ctx)
  endRequests(height)
  persist(ctx, { type: 'round', number: height.config.number, round })
  startRoundTimer(ctx, ctx.nowMs)
  height.prepares.dropBelow(round - config.pastRounds)
  height.commits.dropBelow(round - config.pastRounds)
}

/** Leaves the current round for a later one and broadcasts a round change with the prepared certificate of this node. */
export const startRoundChange = (ctx: StepContext, round: number): void => {
  enterRound(ctx, round)
  const { prepared, config } = ctx.height
  requestSignature(ctx, {
    type: 'roundChange',
    number: config.number,
    round: ctx.height.round,
    prepared: prepared === null ? null : { round: prepared.round, blockHash: prepared.blockHash },
    prepares: prepared?.prepares ?? [],
  })
}
