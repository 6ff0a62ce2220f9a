import { faultsOf, quorumOf } from '../../rules/council/quorum.ts'
import { tryDecide } from './decide.ts'
import { limitProposals, processProposal } from './messages/proposals.ts'
import { VoteSet } from './messages/vote-set.ts'
import { requestCommit, tryCommit } from './messages/votes.ts'
import { tryPropose } from './propose.ts'
import { startRoundChange, startRoundTimer } from './rounds.ts'
import { broadcastStatus, hasOtherVoters } from './status.ts'
import type { HeightConfig, HeightState, StepContext, TimerName, WalRecord } from './types.ts'

/** Restores the state of a height from its log; without records it is fresh. */
export const openHeight = (config: HeightConfig, records: readonly WalRecord[]): HeightState => {
  const height: HeightState = {
    config,
    quorum: quorumOf(config.members.length),
    faults: faultsOf(config.members.length),
    round: 0,
    opened: false,
    proposals: new Map(),
    blocks: new Map(),
    logged: new Set(),
    verdicts: new Map(),
    accepted: new Map(),
    prepares: new VoteSet(),
    commits: new VoteSet(),
    roundChanges: new Map(),
    prepared: null,
    asked: { proposal: -1, prepare: -1, commit: -1, roundChange: -1 },
    own: { proposal: null, prepare: null, commit: null, roundChange: null },
    building: null,
    wanted: new Set(),
    decided: null,
    learntFrom: null,
  }
  for (const record of records) remember(height, record)
  return height
}

const remember = (height: HeightState, record: WalRecord): void => {
  switch (record.type) {
    case 'block':
      height.blocks.set(record.block.hash, record.block)
      height.logged.add(record.block.hash)
      return
    case 'round':
      height.round = Math.max(height.round, record.round)
      return
    case 'proposal':
      height.proposals.set(record.proposal.round, record.proposal)
      if (record.proposal.sender !== height.config.index) return
      height.own.proposal = record.proposal
      height.asked.proposal = record.proposal.round
      return
    case 'signed':
      height.asked[record.vote.type] = record.vote.round
      rememberVote(height, record.vote)
      return
    case 'prepared':
      height.prepared = record.certificate
      for (const prepare of record.certificate.prepares) height.prepares.add(prepare)
      return
    case 'decided':
    case 'end':
      return
  }
}

const rememberVote = (height: HeightState, vote: Extract<WalRecord, { type: 'signed' }>['vote']): void => {
  switch (vote.type) {
    case 'prepare':
      height.own.prepare = vote
      height.prepares.add(vote)
      // A prepare is signed only for a block found valid.
      height.accepted.set(vote.round, vote.blockHash)
      height.verdicts.set(vote.blockHash, 'valid')
      return
    case 'commit':
      height.own.commit = vote
      height.commits.add(vote)
      return
    case 'roundChange':
      height.own.roundChange = vote
      height.roundChanges.set(vote.sender, vote)
      return
  }
}

/** Starts the timers, resends the node's messages from before a restart, and continues the round. */
export const resumeHeight = (ctx: StepContext): void => {
  const { height, config, nowMs, out } = ctx
  const { earliestMs } = height.config
  limitProposals(ctx)
  // In instant mode the first message of the height ends the wait for a request.
  const opensMs = earliestMs ?? (height.proposals.size > 0 || height.round > 0 ? nowMs : null)
  if (opensMs !== null) {
    const atMs = Math.max(nowMs, opensMs)
    schedulePropose(ctx, atMs)
    startRoundTimer(ctx, atMs)
  }
  if (hasOtherVoters(height.config)) scheduleRetransmit(ctx, Math.max(nowMs, opensMs ?? nowMs) + config.retransmitMs)
  for (const message of Object.values(height.own)) if (message !== null) out.push({ type: 'broadcast', message })
  if (isSpeechless(height)) startRoundChange(ctx, height.round)
  goOn(ctx)
}

const goOn = (ctx: StepContext): void => {
  const { height } = ctx
  processProposal(ctx, height.round)
  tryCommit(ctx)
  requestCommit(ctx)
  const { commit } = height.own
  if (commit !== null) tryDecide(ctx, commit.round, commit.blockHash)
  if (height.round > 0) tryPropose(ctx)
}

/** True when the round was logged as entered, but neither its round change nor any other message in it was signed. */
const isSpeechless = ({ round, asked, proposals }: HeightState): boolean =>
  round > 0 && !proposals.has(round) && Math.max(asked.roundChange, asked.proposal, asked.prepare) < round

const schedulePropose = ({ height, out }: StepContext, atMs: number): void => {
  out.push({ type: 'schedule', timer: 'propose', number: height.config.number, round: height.round, atMs })
}

const scheduleRetransmit = ({ height, out }: StepContext, atMs: number): void => {
  out.push({ type: 'schedule', timer: 'retransmit', number: height.config.number, round: 0, atMs })
}

export const onTimeout = (ctx: StepContext, timer: TimerName, round: number, isolated: boolean): void => {
  const { height, config, nowMs, out } = ctx
  if (timer === 'retransmit') {
    broadcastStatus(ctx)
    scheduleRetransmit(ctx, nowMs + config.retransmitMs)
    return
  }
  if (height.decided !== null) return
  if (timer === 'propose') {
    height.opened = true
    // While isolated no block is built, since it would be stale at reconnection; by then another proposer may have had its round.
    if (isolated) schedulePropose(ctx, nowMs + config.retransmitMs)
    else tryPropose(ctx)
  } else if (round === height.round) {
    // Statuses fetch only a neighbour's own messages: from a relay, members that lost this one get it by another broadcast alone.
    if (isolated && height.own.roundChange !== null) out.push({ type: 'broadcast', message: height.own.roundChange })
    if (isolated || isBuildingAlone(height)) startRoundTimer(ctx, nowMs)
    else startRoundChange(ctx, round + 1)
  }
}

/** True while a committee of one builds its block: no other member could propose instead. */
const isBuildingAlone = ({ config, building }: HeightState): boolean =>
  config.members.length === 1 && building?.failed === false

/** Instant mode: a transaction is available. */
export const onRequest = (ctx: StepContext): void => {
  const { height, nowMs } = ctx
  if (height.config.earliestMs !== null || height.opened || height.decided !== null) return
  height.opened = true
  startRoundTimer(ctx, nowMs)
  tryPropose(ctx)
}
