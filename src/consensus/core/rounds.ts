import { ask, persist } from './out.ts'
import type { CoreConfig, Turn } from './types.ts'

/** T(r) = min(base * 2^min(r, 6), cap) (reference/consensus.md 1.6). */
export const roundTimeoutMs = (config: CoreConfig, round: number): number =>
  Math.min(config.baseTimeoutMs * 2 ** Math.min(round, config.maxTimeoutExponent), config.timeoutCapMs)

/** The current round is given up a timeout after `fromMs`. */
export const startRoundTimer = ({ config, height, out }: Turn, fromMs: number): void => {
  const { round } = height
  const atMs = fromMs + roundTimeoutMs(config, round)
  out.push({ type: 'schedule', timer: 'round', number: height.config.number, round, atMs })
}

/** Makes a later round current: logged, its timer started, what only rounds long gone needed forgotten. */
export const enterRound = (turn: Turn, round: number): void => {
  const { config, height } = turn
  if (round <= height.round) return
  height.round = round
  height.opened = true
  height.building = null
  persist(turn, { type: 'round', number: height.config.number, round })
  startRoundTimer(turn, turn.nowMs)
  height.prepares.dropBelow(round - config.pastRounds)
  height.commits.dropBelow(round - config.pastRounds)
}

/** Leaves the current round for a later one and tells the others, with what is prepared here. */
export const moveToRound = (turn: Turn, round: number): void => {
  enterRound(turn, round)
  const { prepared, config } = turn.height
  ask(turn, {
    type: 'roundChange',
    number: config.number,
    round: turn.height.round,
    prepared: prepared === null ? null : { round: prepared.round, blockHash: prepared.blockHash },
    prepares: prepared?.prepares ?? [],
  })
}
