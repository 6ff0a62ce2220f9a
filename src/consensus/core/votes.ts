import type { Commit, Prepare, RoundChange } from '../../primitives/consensus/vote.ts'
import { tryDecide } from './decide.ts'
import { ask, persist } from './effects.ts'
import { isSoundRoundChange } from './justification.ts'
import { tryPropose } from './propose.ts'
import { countRoundChange, moveToRound } from './rounds.ts'
import type { Turn } from './types.ts'

export const receivePrepare = (turn: Turn, prepare: Prepare): void => {
  if (isNear(turn, prepare.round) && turn.height.prepares.add(prepare)) tryCommit(turn)
}

/** A quorum prepared the accepted proposal of the current round: that is the lock; then the commit. */
export const tryCommit = (turn: Turn): void => {
  const { height } = turn
  const { round, quorum, prepares, accepted, config } = height
  const blockHash = accepted.get(round)
  if (blockHash === undefined || height.prepared?.round === round || prepares.count(round, blockHash) < quorum) return
  height.prepared = { round, blockHash, prepares: prepares.votesFor(round, blockHash) }
  persist(turn, { type: 'prepared', number: config.number, certificate: height.prepared })
  askCommit(turn)
}

/** After a restart the lock may be logged and the commit not. */
export const askCommit = (turn: Turn): void => {
  const { prepared, round, config } = turn.height
  if (prepared?.round !== round) return
  ask(turn, { type: 'commit', number: config.number, round, blockHash: prepared.blockHash })
}

export const receiveCommit = (turn: Turn, commit: Commit): void => {
  if (isNear(turn, commit.round) && turn.height.commits.add(commit)) tryDecide(turn, commit.round, commit.blockHash)
}

/** Only the highest round change of a sender is kept, so a flood of them costs nothing. */
export const receiveRoundChange = (turn: Turn, change: RoundChange): void => {
  const { height } = turn
  const known = height.roundChanges.get(change.sender)
  if (known !== undefined && known.round >= change.round) return
  if (!isSoundRoundChange(change, height.config.members.length, height.quorum)) return
  countRoundChange(turn, change)
  jump(turn)
  tryPropose(turn)
}

/** More members than can be faulty are in later rounds: follow to the lowest of the f+1 highest (reference/consensus.md 1.5). */
const jump = (turn: Turn): void => {
  const { height } = turn
  const later = [...height.roundChanges.values()]
    .filter(change => change.round > height.round && change.sender !== height.config.index)
    .map(change => change.round)
    .sort((a, b) => b - a)
  const target = later[height.faults]
  if (target !== undefined) moveToRound(turn, target)
}

/** Votes of rounds within reach; a node that far off learns the decision from others. */
const isNear = ({ config, height }: Turn, round: number): boolean =>
  round >= height.round - config.pastRounds && round <= height.round + config.futureRounds
