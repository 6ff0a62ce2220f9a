import { faultsOf, quorumOf } from '../../rules/quorum.ts'
import { tryDecide } from './decide.ts'
import { processProposal } from './proposals.ts'
import { tryPropose } from './propose.ts'
import { startRoundChange, startRoundTimer } from './rounds.ts'
import { broadcastStatus, hasOtherVoters } from './status.ts'
import type { HeightConfig, HeightState, StepContext, TimerName, WalRecord } from './types.ts'
import { VoteSet } from './vote-set.ts'
import { requestCommit, tryCommit } from './votes.ts'

/** The state of a height as its log tells it; no records open it fresh. */
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
    wanted: null,
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
      // A prepare is only ever signed for a block found valid.
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

/** Starts the clocks, says again what this node said before a restart, and goes on where it stood. */
export const resumeHeight = (ctx: StepContext): void => {
  const { height, config, nowMs, out } = ctx
  const { earliestMs } = height.config
  // Waiting for a request ends with the first thing said at this height.
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

/** The round was logged as entered, its round change never signed, and nothing else was said in it. */
const isSpeechless = ({ round, asked, proposals }: HeightState): boolean =>
  round > 0 && !proposals.has(round) && Math.max(asked.roundChange, asked.proposal, asked.prepare) < round

const schedulePropose = ({ height, out }: StepContext, atMs: number): void => {
  out.push({ type: 'schedule', timer: 'propose', number: height.config.number, round: height.round, atMs })
}

const scheduleRetransmit = ({ height, out }: StepContext, atMs: number): void => {
  out.push({ type: 'schedule', timer: 'retransmit', number: height.config.number, round: 0, atMs })
}

export const onTimeout = (ctx: StepContext, timer: TimerName, round: number, isolated: boolean): void => {
  const { height, config, nowMs } = ctx
  if (timer === 'retransmit') {
    broadcastStatus(ctx)
    scheduleRetransmit(ctx, nowMs + config.retransmitMs)
    return
  }
  if (height.decided !== null) return
  if (timer === 'propose') {
    height.opened = true
    // A block built for nobody would be old when they are back; by then another may have had the turn.
    if (isolated) schedulePropose(ctx, nowMs + config.retransmitMs)
    else tryPropose(ctx)
  } else if (round === height.round) {
    if (isolated || isBuildingAlone(height)) startRoundTimer(ctx, nowMs)
    else startRoundChange(ctx, round + 1)
  }
}

/** A committee of one has nobody to hand the turn to while its own block is being built. */
const isBuildingAlone = ({ config, building }: HeightState): boolean =>
  config.members.length === 1 && building?.failed === false

/** Instant mode: somebody has a transaction. */
export const onRequest = (ctx: StepContext): void => {
  const { height, nowMs } = ctx
  if (height.config.earliestMs !== null || height.opened || height.decided !== null) return
  height.opened = true
  startRoundTimer(ctx, nowMs)
  tryPropose(ctx)
}
