import { type Proposal, type ProposalHead, proposalHead } from '../../primitives/consensus/proposal.ts'
import { bytesEqual, type Hex } from '../../util/bytes.ts'
import { proposerIndex } from '../committee.ts'
import type { Verdict } from '../ports.ts'
import { tryDecide } from './decide.ts'
import { ask, isMember, persist, persistBlock } from './effects.ts'
import { type Allowed, allowedBy } from './justification.ts'
import { enterRound, moveToRound, startRoundTimer } from './rounds.ts'
import type { CoreConfig, CoreState, HeightState, Turn } from './types.ts'
import { tryCommit } from './votes.ts'

/** Whether a proposal could be of use, by what stands beside its block: of the open height, or of the next one. */
export const wantsProposal = ({ config, height, future }: CoreState, head: ProposalHead): boolean => {
  if (height === null) return false
  const { number } = height.config
  if (head.number !== number) return future.wants(head, number)
  return height.decided === null && isOfUse(height, config, head)
}

/** Whether this very proposal is held already. */
export const holdsProposal = (
  { height }: CoreState,
  { number, round, blockHash, signature }: ProposalHead,
): boolean => {
  const held = height?.config.number === number ? height.proposals.get(round) : undefined
  return held !== undefined && held.block.hash === blockHash && bytesEqual(held.signature, signature)
}

const isOfUse = (height: HeightState, config: CoreConfig, head: Omit<ProposalHead, 'blockHash'>): boolean => {
  const { number, members } = height.config
  if (head.sender !== proposerIndex(members.length, number, head.round)) return false
  if (head.round < height.round - config.futureRounds || head.round > height.round + config.futureRounds) return false
  return !height.proposals.has(head.round) && isWhollySigned(head)
}

/** The first proposal of each round counts. */
export const receiveProposal = (turn: Turn, proposal: Proposal): void => {
  const { height, config } = turn
  if (!isOfUse(height, config, proposal)) return
  if (!isAcceptable(turn, proposal)) {
    refuse(turn, proposal.round)
    return
  }
  keep(turn, proposal)
  openByProposal(turn)
  considerProposal(turn, proposal.round)
}

/** No signature covers a justification in round 0: anybody could have put it there, so it says nothing about the proposer. */
const isWhollySigned = ({
  round,
  roundChanges,
  prepares,
}: Pick<Proposal, 'round' | 'roundChanges' | 'prepares'>): boolean =>
  round > 0 || roundChanges.length + prepares.length === 0

/** Instant mode: another member had the request, and from here on its round may have to be given up. */
const openByProposal = (turn: Turn): void => {
  if (turn.height.config.earliestMs !== null || turn.height.opened) return
  turn.height.opened = true
  startRoundTimer(turn, turn.nowMs)
}

const isAcceptable = ({ height, config }: Turn, proposal: Proposal): boolean => {
  const { number, members, parentHash } = height.config
  const { header } = proposal.block
  if (header.number !== number || header.parentHash !== parentHash) return false
  const allowed = allowedBy(proposalHead(proposal), members.length, height.quorum)
  if (allowed.kind === 'unjustified') return false
  const proposer = config.proposerOf(proposal.block)
  return proposersOf(height, proposal, allowed).some(index => members[index] === proposer)
}

/** Whom the header may name: this round's proposer of a fresh block, any proposer up to the prepared round of one proposed again. */
const proposersOf = ({ config }: HeightState, proposal: Proposal, allowed: Allowed): readonly number[] => {
  const size = config.members.length
  if (allowed.kind !== 'prepared') return [proposerIndex(size, config.number, proposal.round)]
  const rounds = Math.min(allowed.round + 1, size)
  return Array.from({ length: rounds }, (_, back) => proposerIndex(size, config.number, allowed.round - back))
}

/** What breaks a rule on every node is not waited for. */
const refuse = (turn: Turn, round: number): void => {
  const { height } = turn
  if (round === height.round && !height.accepted.has(round)) moveToRound(turn, round + 1)
}

/** Keeps a proposal, and a bounded number of bodies: the oldest that nothing here stands on gives way. */
export const keep = (turn: Turn, proposal: Proposal): void => {
  const { height, config } = turn
  height.proposals.set(proposal.round, proposal)
  keepBody(height, proposal.block)
  if (height.proposals.size <= config.heldBlocks) return
  const rounds = [...height.proposals.keys()].sort((a, b) => a - b)
  const dropped = rounds.find(round => round !== height.prepared?.round && round !== height.own.proposal?.round)
  if (dropped !== undefined) forget(height, dropped)
}

const forget = (height: HeightState, round: number): void => {
  const hash = height.proposals.get(round)?.block.hash
  height.proposals.delete(round)
  const needed =
    hash === height.prepared?.blockHash || [...height.proposals.values()].some(other => other.block.hash === hash)
  if (hash !== undefined && !needed) height.blocks.delete(hash)
}

/** A body that commits, or the highest prepared round, were waiting for. */
export const keepBody = (height: HeightState, block: Proposal['block']): void => {
  height.blocks.set(block.hash, block)
  if (height.wanted === block.hash) height.wanted = null
}

/** Asks for the verdict on a proposal of the current or a later round, and accepts it once valid. */
export const considerProposal = (turn: Turn, round: number): void => {
  const { height, out } = turn
  const proposal = height.proposals.get(round)
  if (proposal === undefined || height.decided !== null) return
  const { block } = proposal
  for (const known of height.commits.roundsOf(block.hash)) tryDecide(turn, known, block.hash)
  if (height.decided !== null || round < height.round || height.accepted.has(round)) return
  const verdict = height.verdicts.get(block.hash)
  if (verdict === 'valid') accept(turn, proposal)
  else if (verdict === 'invalid') refuse(turn, round)
  if (verdict !== undefined) return
  height.verdicts.set(block.hash, 'pending')
  // A justified proposal with prepares is a block proposed again.
  out.push({ type: 'validate', block, number: proposal.number, round, fresh: proposal.prepares.length === 0 })
}

const accept = (turn: Turn, proposal: Proposal): void => {
  const { height } = turn
  const { round, block } = proposal
  enterRound(turn, round)
  height.accepted.set(round, block.hash)
  if (height.own.proposal !== proposal) {
    persistBlock(turn, block)
    persist(turn, { type: 'proposal', proposal })
  }
  // A member's own prepare comes back signed and is counted then, so that its lock is never logged before its prepare.
  if (isMember(turn)) ask(turn, { type: 'prepare', number: proposal.number, round, blockHash: block.hash })
  else tryCommit(turn)
}

/** A block that only could not be judged now is judged anew when a later round offers it. */
export const onVerdict = (turn: Turn, blockHash: Hex, verdict: Verdict): void => {
  const { height } = turn
  if (height.verdicts.get(blockHash) !== 'pending' || height.decided !== null) return
  if (verdict.valid || verdict.proven) height.verdicts.set(blockHash, verdict.valid ? 'valid' : 'invalid')
  else height.verdicts.delete(blockHash)
  if (verdict.valid) {
    const rounds = [...height.proposals.keys()].sort((a, b) => b - a)
    for (const round of rounds) if (height.proposals.get(round)?.block.hash === blockHash) considerProposal(turn, round)
  } else if (verdict.proven && height.proposals.get(height.round)?.block.hash === blockHash) {
    refuse(turn, height.round)
  }
}
