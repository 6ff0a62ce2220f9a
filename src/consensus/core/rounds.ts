import type { RoundChange } from '../../primitives/consensus/vote.ts'
import { cancelUnawaited } from './cancel.ts'
import { persist, requestSignature } from './effects.ts'
import type { CoreConfig, HeightState, StepContext } from './types.ts'

/** T(r) = min(base * 2^min(r, 6), cap) (docs/design/consensus.md#timers). */
export const roundTimeoutMs = (config: CoreConfig, round: number): number =>
  Math.min(config.baseTimeoutMs * 2 ** Math.min(round, config.maxTimeoutExponent), config.timeoutCapMs)

/** The current round is given up a timeout after `fromMs`. */
export const startRoundTimer = ({ config, height, out }: StepContext, fromMs: number): void => {
  const { round } = height
  const atMs = fromMs + roundTimeoutMs(config, round)
  out.push({ type: 'schedule', timer: 'round', number: height.config.number, round, atMs })
}

/**
 * Whether a quorum is known to have come as far: by its round changes, or by a proposal, which stands on those of a quorum. Without
 * one a round must not be given up: once timers have grown as far as they do, a member ahead of the others by less than one timer
 * would stay ahead of them for ever, and where others are silent its round change is the one that each round lacks. So the first
 * waits for the last, and the last climb, or jump, to the first.
 */
export const hasQuorumAtRound = ({ config, round, quorum, proposals, roundChanges }: HeightState): boolean => {
  if (round === 0 || proposals.has(round)) return true
  let count = 1
  for (const change of roundChanges.values()) if (change.sender !== config.index && change.round >= round) count++
  return count >= quorum
}

/** Notes a round change. With the quorum complete the round begins for all at about the same time: its timer runs from here. */
export const recordRoundChange = (ctx: StepContext, change: RoundChange): void => {
  const { height, nowMs } = ctx
  const before = hasQuorumAtRound(height)
  height.roundChanges.set(change.sender, change)
  if (!before && hasQuorumAtRound(height)) startRoundTimer(ctx, nowMs)
}

/** Makes a later round current: logged, its timer started, what only rounds long gone needed forgotten. */
export const enterRound = (ctx: StepContext, round: number): void => {
  const { config, height } = ctx
  if (round <= height.round) return
  height.round = round
  height.opened = true
  cancelUnawaited(ctx)
  persist(ctx, { type: 'round', number: height.config.number, round })
  startRoundTimer(ctx, ctx.nowMs)
  height.prepares.dropBelow(round - config.pastRounds)
  height.commits.dropBelow(round - config.pastRounds)
}

/** Leaves the current round for a later one and tells the others, with what is prepared here. */
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
