import type { Commit, Prepare, RoundChange } from '../../../primitives/consensus/vote.ts'
import { tryDecide } from '../decide.ts'
import { persist, requestSignature } from '../effects.ts'
import { tryPropose } from '../propose.ts'
import { recordRoundChange, startRoundChange } from '../rounds.ts'
import type { StepContext } from '../types.ts'
import { isValidRoundChange } from './justification.ts'

export const receivePrepare = (ctx: StepContext, prepare: Prepare): void => {
  if (isNear(ctx, prepare.round) && ctx.height.prepares.add(prepare)) tryCommit(ctx)
}

/** When a quorum prepared the accepted proposal of the current round: sets the lock, then commits. */
export const tryCommit = (ctx: StepContext): void => {
  const { height } = ctx
  const { round, quorum, prepares, accepted, config } = height
  const blockHash = accepted.get(round)
  if (blockHash === undefined || height.prepared?.round === round || prepares.count(round, blockHash) < quorum) return
  height.prepared = { round, blockHash, prepares: prepares.votesFor(round, blockHash) }
  persist(ctx, { type: 'prepared', number: config.number, certificate: height.prepared })
  requestCommit(ctx)
}

/** Requests the commit; after a restart the lock may be logged and the commit not. */
export const requestCommit = (ctx: StepContext): void => {
  const { prepared, round, config } = ctx.height
  if (prepared?.round !== round) return
  requestSignature(ctx, { type: 'commit', number: config.number, round, blockHash: prepared.blockHash })
}

export const receiveCommit = (ctx: StepContext, commit: Commit): void => {
  if (isNear(ctx, commit.round) && ctx.height.commits.add(commit)) tryDecide(ctx, commit.round, commit.blockHash)
}

/** Keeps only the highest round change of a sender, so a flood of them costs no memory. */
export const receiveRoundChange = (ctx: StepContext, change: RoundChange): void => {
  const { height } = ctx
  const known = height.roundChanges.get(change.sender)
  if (known !== undefined && known.round >= change.round) return
  if (!isValidRoundChange(change, height.config.members.length, height.quorum)) return
  recordRoundChange(ctx, change)
  jump(ctx)
  tryPropose(ctx)
}

/** Jumps to the lowest of the f+1 highest later rounds, if f+1 members are there (docs/design/consensus.md#state-machine). */
const jump = (ctx: StepContext): void => {
  const { height } = ctx
  const later = [...height.roundChanges.values()]
    .filter(change => change.round > height.round && change.sender !== height.config.index)
    .map(change => change.round)
    .sort((a, b) => b - a)
  const target = later[height.faults]
  if (target !== undefined) startRoundChange(ctx, target)
}

/** True for votes of rounds within reach; a node farther off learns the decision from others. */
const isNear = ({ config, height }: StepContext, round: number): boolean =>
  round >= height.round - config.pastRounds && round <= height.round + config.futureRounds
