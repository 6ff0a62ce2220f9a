import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import { type Proposal, type ProposalHead, proposalHead } from '../../../primitives/consensus/proposal.ts'
import { proposerIndex } from '../../../rules/council/proposer-turns.ts'
import type { ProposalVerdict } from '../../ports.ts'
import { tryDecide } from '../decide.ts'
import { isMember, persist, persistBlock, requestSignature } from '../effects.ts'
import { enterRound, startRoundChange, startRoundTimer } from '../rounds.ts'
import type { CoreConfig, CoreState, HeightState, StepContext } from '../types.ts'
import { type AllowedProposal, allowedProposal } from './justification.ts'
import { tryCommit } from './votes.ts'

/** Returns true when the head of a proposal makes its block worth decoding: it fits the open height or the next one. */
export const wantsProposal = ({ config, height, future }: CoreState, head: ProposalHead): boolean => {
  if (height === null) return false
  const { number } = height.config
  if (head.number !== number) return future.wants(head, number)
  return height.decided === null && isOfUse(height, config, head)
}

/** Returns true when exactly this proposal is already held. */
export const holdsProposal = (
  { height }: CoreState,
  { number, round, blockHash, signature }: ProposalHead,
): boolean => {
  const held = height?.config.number === number ? height.proposals.get(round) : undefined
  return held !== undefined && held.block.hash === blockHash && bytesEqual(held.signature, signature)
}

const isOfUse = (height: HeightState, config: CoreConfig, head: Omit<ProposalHead, 'blockHash'>): boolean => {
  const { number } = height.config
  if (head.sender !== proposerIndex(height.config, number, head.round)) return false
  if (head.round < height.round - config.futureRounds || head.round > height.round + config.futureRounds) return false
  return !height.proposals.has(head.round) && isWhollySigned(head)
}

/** Handles a proposal; only the first one of each round counts. */
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

/** In round 0 no signature covers a justification: a relay could have added it, so it proves nothing about the proposer. */
const isWhollySigned = ({
  round,
  roundChanges,
  prepares,
}: Pick<Proposal, 'round' | 'roundChanges' | 'prepares'>): boolean =>
  round > 0 || roundChanges.length + prepares.length === 0

/** Instant mode: another proposer had the request; from here on its round may time out. */
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

/** Returns proposers a header may name: this round's for a fresh block, any up to the prepared round for a reproposed one. */
const proposersOf = ({ config }: HeightState, proposal: Proposal, allowed: AllowedProposal): readonly number[] => {
  if (allowed.kind !== 'prepared') return [proposerIndex(config, config.number, proposal.round)]
  const rounds = Math.min(allowed.round + 1, config.members.length)
  return Array.from({ length: rounds }, (_, back) => proposerIndex(config, config.number, allowed.round - back))
}

/** Gives up the round at once for a proposal that breaks a rule on every node. */
const refuse = (ctx: StepContext, round: number): void => {
  const { height } = ctx
  if (round === height.round && !height.accepted.has(round)) startRoundChange(ctx, round + 1)
}

export const storeProposal = (ctx: StepContext, proposal: Proposal): void => {
  const { height } = ctx
  height.proposals.set(proposal.round, proposal)
  storeBody(height, proposal.block)
  limitProposals(ctx)
}

/**
 * Keeps a bounded number of proposals, and of bodies only theirs and the prepared one. The oldest proposal goes first; those of the
 * current and the prepared round, this node's own and the one it prepared last stay: a member must have the body of its lock, or none of
 * its later proposals could carry it (docs/design/consensus.md#missing-bodies).
 */
export const limitProposals = ({ height, config }: StepContext): void => {
  const { proposals, blocks, prepared, own } = height
  const spared = new Set([height.round, prepared?.round, own.proposal?.round, own.prepare?.round])
  const oldest = [...proposals.keys()].filter(round => !spared.has(round)).sort((a, b) => a - b)
  for (const round of oldest.slice(0, Math.max(0, proposals.size - config.heldBlocks))) proposals.delete(round)
  const needed = new Set([prepared?.blockHash, ...[...proposals.values()].map(({ block }) => block.hash)])
  for (const hash of blocks.keys()) if (!needed.has(hash)) blocks.delete(hash)
}

/** Stores a body; commits or the highest prepared round may have been waiting for it. */
export const storeBody = (height: HeightState, block: Proposal['block']): void => {
  height.blocks.set(block.hash, block)
  height.wanted.delete(block.hash)
}

/** Requests the verdict on a proposal of the current or a later round, and accepts it once valid. */
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
  height.verdicts.set(block.hash, { requestedForRound: round })
  // A justified proposal with prepares is a reproposed block.
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
  // A member's own prepare is counted when it comes back signed, so that its lock is never logged before its prepare.
  if (isMember(ctx)) requestSignature(ctx, { type: 'prepare', number: proposal.number, round, blockHash: block.hash })
  else tryCommit(ctx)
}

/** Handles the verdict on a block. An unproven one counts for its own proposal alone: a later one of the block is judged anew. */
export const onValidated = (ctx: StepContext, blockHash: Hex, proposalVerdict: ProposalVerdict): void => {
  const { height } = ctx
  const requested = height.verdicts.get(blockHash)
  if (typeof requested !== 'object' || height.decided !== null) return
  const rounds = roundsOf(height, blockHash)
  if (proposalVerdict.valid) {
    height.verdicts.set(blockHash, 'valid')
    for (const round of rounds.reverse()) processProposal(ctx, round)
  } else if (proposalVerdict.proven) {
    height.verdicts.set(blockHash, 'invalid')
    if (rounds.includes(height.round)) refuse(ctx, height.round)
  } else {
    height.verdicts.delete(blockHash)
    for (const round of rounds) if (round > requested.requestedForRound) processProposal(ctx, round)
  }
}

/** Rounds that propose a block, in order. */
const roundsOf = (height: HeightState, blockHash: Hex): number[] =>
  [...height.proposals]
    .filter(([, { block }]) => block.hash === blockHash)
    .map(([round]) => round)
    .sort((a, b) => a - b)
