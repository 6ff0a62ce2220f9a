import { type Proposal, type ProposalHead, proposalHead } from '../../primitives/consensus/proposal.ts'
import { bytesEqual, type Hex } from '../../util/bytes.ts'
import { proposerIndex } from '../committee.ts'
import type { ProposalVerdict } from '../ports.ts'
import { tryDecide } from './decide.ts'
import { isMember, persist, persistBlock, requestSignature } from './effects.ts'
import { type AllowedProposal, allowedProposal } from './justification.ts'
import { enterRound, startRoundChange, startRoundTimer } from './rounds.ts'
import type { CoreConfig, CoreState, HeightState, StepContext } from './types.ts'
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
export const receiveProposal = (ctx: StepContext, proposal: Proposal): void => {
  const { height, config } = ctx
  if (!isOfUse(height, config, proposal)) return
  if (!isAcceptable(ctx, proposal)) {
    refuse(ctx, proposal.round)
    return
  }
  storeProposal(ctx, proposal)
  openByProposal(ctx)
  processProposal(ctx, proposal.round)
}

/** No signature covers a justification in round 0: anybody could have put it there, so it says nothing about the proposer. */
const isWhollySigned = ({
  round,
  roundChanges,
  prepares,
}: Pick<Proposal, 'round' | 'roundChanges' | 'prepares'>): boolean =>
  round > 0 || roundChanges.length + prepares.length === 0

/** Instant mode: another member had the request, and from here on its round may have to be given up. */
const openByProposal = (ctx: StepContext): void => {
  if (ctx.height.config.earliestMs !== null || ctx.height.opened) return
  ctx.height.opened = true
  startRoundTimer(ctx, ctx.nowMs)
}

const isAcceptable = ({ height, config }: StepContext, proposal: Proposal): boolean => {
  const { number, members, parentHash } = height.config
  const { header } = proposal.block
  if (header.number !== number || header.parentHash !== parentHash) return false
  const allowed = allowedProposal(proposalHead(proposal), members.length, height.quorum)
  if (allowed.kind === 'unjustified') return false
  const proposer = config.proposerOf(proposal.block)
  return proposersOf(height, proposal, allowed).some(index => members[index] === proposer)
}

/** Whom the header may name: this round's proposer of a fresh block, any proposer up to the prepared round of one proposed again. */
const proposersOf = ({ config }: HeightState, proposal: Proposal, allowed: AllowedProposal): readonly number[] => {
  const size = config.members.length
  if (allowed.kind !== 'prepared') return [proposerIndex(size, config.number, proposal.round)]
  const rounds = Math.min(allowed.round + 1, size)
  return Array.from({ length: rounds }, (_, back) => proposerIndex(size, config.number, allowed.round - back))
}

/** What breaks a rule on every node is not waited for. */
const refuse = (ctx: StepContext, round: number): void => {
  const { height } = ctx
  if (round === height.round && !height.accepted.has(round)) startRoundChange(ctx, round + 1)
}

/** Keeps a proposal, and a bounded number of bodies: the oldest that nothing here stands on gives way. */
export const storeProposal = (ctx: StepContext, proposal: Proposal): void => {
  const { height, config } = ctx
  height.proposals.set(proposal.round, proposal)
  storeBody(height, proposal.block)
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
export const storeBody = (height: HeightState, block: Proposal['block']): void => {
  height.blocks.set(block.hash, block)
  if (height.wanted === block.hash) height.wanted = null
}

/** Asks for the verdict on a proposal of the current or a later round, and accepts it once valid. */
export const processProposal = (ctx: StepContext, round: number): void => {
  const { height, out } = ctx
  const proposal = height.proposals.get(round)
  if (proposal === undefined || height.decided !== null) return
  const { block } = proposal
  for (const known of height.commits.roundsOf(block.hash)) tryDecide(ctx, known, block.hash)
  if (height.decided !== null || round < height.round || height.accepted.has(round)) return
  const verdict = height.verdicts.get(block.hash)
  if (verdict === 'valid') accept(ctx, proposal)
  else if (verdict === 'invalid') refuse(ctx, round)
  if (verdict !== undefined) return
  height.verdicts.set(block.hash, 'pending')
  // A justified proposal with prepares is a block proposed again.
  out.push({ type: 'validate', block, number: proposal.number, round, fresh: proposal.prepares.length === 0 })
}

const accept = (ctx: StepContext, proposal: Proposal): void => {
  const { height } = ctx
  const { round, block } = proposal
  enterRound(ctx, round)
  height.accepted.set(round, block.hash)
  if (height.own.proposal !== proposal) {
    persistBlock(ctx, block)
    persist(ctx, { type: 'proposal', proposal })
  }
  // A member's own prepare comes back signed and is counted then, so that its lock is never logged before its prepare.
  if (isMember(ctx)) requestSignature(ctx, { type: 'prepare', number: proposal.number, round, blockHash: block.hash })
  else tryCommit(ctx)
}

/** A block that only could not be judged now is judged anew when a later round offers it. */
export const onValidated = (ctx: StepContext, blockHash: Hex, proposalVerdict: ProposalVerdict): void => {
  const { height } = ctx
  if (height.verdicts.get(blockHash) !== 'pending' || height.decided !== null) return
  if (proposalVerdict.valid || proposalVerdict.proven)
    height.verdicts.set(blockHash, proposalVerdict.valid ? 'valid' : 'invalid')
  else height.verdicts.delete(blockHash)
  if (proposalVerdict.valid) {
    const rounds = [...height.proposals.keys()].sort((a, b) => b - a)
    for (const round of rounds) if (height.proposals.get(round)?.block.hash === blockHash) processProposal(ctx, round)
  } else if (proposalVerdict.proven && height.proposals.get(height.round)?.block.hash === blockHash) {
    refuse(ctx, height.round)
  }
}
