import type { Hex } from '@tandem/base/bytes.ts'
import type { Justification, ProposalHead } from '../../../primitives/consensus/proposal.ts'
import type { Prepare, RoundChange, RoundChangePayload } from '../../../primitives/consensus/vote.ts'

/** Proposal that a justification allows: any block, only the prepared one, or none (docs/design/consensus.md#proposals). */
export type AllowedProposal =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'prepared'; readonly round: number; readonly blockHash: Hex }
  | { readonly kind: 'unjustified'; readonly reason: string }

const unjustified = (reason: string): AllowedProposal => ({ kind: 'unjustified', reason })

/** Checks the content of a justification; the signatures of both lists are verified before. */
export const allowedProposal = (
  proposal: Omit<ProposalHead, 'sender' | 'signature'>,
  size: number,
  quorum: number,
): AllowedProposal => {
  const { number, round, blockHash, roundChanges, prepares } = proposal
  if (round === 0) {
    return roundChanges.length === 0 && prepares.length === 0
      ? { kind: 'fresh' }
      : unjustified('round 0 needs no justification')
  }
  if (!distinctSenders(roundChanges, size, quorum)) return unjustified('no quorum of round changes')
  if (roundChanges.some(change => change.number !== number || change.round !== round)) {
    return unjustified('round change for another round')
  }
  const highest = highestPrepared(roundChanges)
  if (highest === 'contradictory') return unjustified('round changes contradict each other')
  if (highest === null)
    return prepares.length === 0 ? { kind: 'fresh' } : unjustified('prepares without a prepared round')
  if (highest.round >= round) return unjustified('prepared in a later round')
  if (highest.blockHash !== blockHash) return unjustified('not the block of the highest prepared round')
  if (!isPreparedBy(prepares, number, highest, size, quorum)) return unjustified('no quorum of prepares')
  return { kind: 'prepared', ...highest }
}

/** Returns the highest prepared round and block, which the next proposal must carry; 'contradictory' when one round names two blocks. */
export const highestPrepared = (
  roundChanges: readonly RoundChangePayload[],
): { readonly round: number; readonly blockHash: Hex } | null | 'contradictory' => {
  const byRound = new Map<number, Hex>()
  let highest: { readonly round: number; readonly blockHash: Hex } | null = null
  for (const { prepared } of roundChanges) {
    if (prepared === null) continue
    const known = byRound.get(prepared.round)
    if (known !== undefined && known !== prepared.blockHash) return 'contradictory'
    byRound.set(prepared.round, prepared.blockHash)
    if (highest === null || prepared.round > highest.round) highest = prepared
  }
  return highest
}

/** Returns true when `prepares` are a quorum for exactly this height, round and block. */
const isPreparedBy = (
  prepares: readonly Prepare[],
  number: number,
  prepared: { readonly round: number; readonly blockHash: Hex },
  size: number,
  quorum: number,
): boolean =>
  distinctSenders(prepares, size, quorum) &&
  prepares.every(
    vote => vote.number === number && vote.round === prepared.round && vote.blockHash === prepared.blockHash,
  )

/** Checks that a round change carries the prepares of the round it claims as prepared, and nothing else. */
export const isValidRoundChange = (change: RoundChange, size: number, quorum: number): boolean =>
  change.prepared === null
    ? change.prepares.length === 0
    : change.prepared.round < change.round &&
      isPreparedBy(change.prepares, change.number, change.prepared, size, quorum)

/** Builds a justification: the signed payloads of the round changes, and the prepares of the highest prepared round. */
export const justificationFromRoundChanges = (roundChanges: readonly RoundChange[]): Justification => {
  const payloads = roundChanges.map(({ prepares: _, ...payload }) => payload)
  const highest = highestPrepared(roundChanges)
  if (highest === null || highest === 'contradictory') return { roundChanges: payloads, prepares: [] }
  const carrier = roundChanges.find(change => change.prepared?.round === highest.round)
  return { roundChanges: payloads, prepares: carrier?.prepares ?? [] }
}

const distinctSenders = (messages: readonly { readonly sender: number }[], size: number, quorum: number): boolean => {
  if (messages.length < quorum || messages.length > size) return false
  const senders = new Set(messages.map(message => message.sender))
  return senders.size === messages.length && messages.every(message => message.sender < size)
}
