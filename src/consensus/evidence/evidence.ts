import type { ProposalHead } from '../../primitives/consensus/proposal.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import { proposerIndex } from '../../rules/council/proposer-turns.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import type { Committee } from '../committee.ts'
import { allowedProposal } from '../core/messages/justification.ts'
import { isSameStatement, type SignatureCheck, type Statement } from './statement.ts'

/**
 * Proof that a member signed what no honest member signs, with all data needed to verify it
 * (docs/design/consensus.md#evidence):
 * - `conflict`: two different statements of one kind for one height and round.
 * - `amnesia`: a commit, and a round change to a later round that claims nothing prepared since.
 * - `unjustified`: a proposal above round 0 whose signed justification does not allow it.
 * - `wrongProposer`: a proposal by a member that is not the proposer of its round.
 */
export type Evidence =
  | { readonly kind: 'conflict'; readonly first: Statement; readonly second: Statement }
  | { readonly kind: 'amnesia'; readonly first: Statement; readonly second: Statement }
  | { readonly kind: 'unjustified'; readonly proposal: ProposalHead }
  | { readonly kind: 'wrongProposer'; readonly proposal: Statement }

/** Receiver of evidence, which keeps it until a block holds it. */
export interface EvidencePort {
  report(evidence: Evidence): void
}

/** Evidence store as the evidence relay uses it. */
export interface EvidenceStore extends EvidencePort {
  /** Returns true when evidence against this member could be included in a later block and none is held. Checks no signature. */
  isOfUse(evidence: Evidence): boolean
  /** Keeps verified evidence; returns false when it is not needed. */
  report(evidence: Evidence): boolean
  /** Returns encoded evidence that no block holds yet. */
  held(): readonly Uint8Array[]
  /** Resolves when what it holds is on disk. */
  written(): Promise<void>
}

/** Exchange of encoded evidence with neighbours, at most CONSENSUS_BOUNDS.evidenceBytes each. */
export interface EvidenceNetworkPort {
  broadcast(encoded: Uint8Array): void
  onReceived(listener: (encoded: Uint8Array, from: PeerId) => void): () => void
  misbehaved?(peer: PeerId, reason: string): void
}

type EvidenceFault = 'NO_CONTRADICTION' | 'OUTSIDE_COMMITTEE' | 'SIGNATURE_INVALID'

/** Returns the height and committee index of the accused, and the round of the (first) statement. */
export const accusedIn = (
  evidence: Evidence,
): { readonly number: number; readonly round: number; readonly sender: number } =>
  'proposal' in evidence ? evidence.proposal : evidence.first

/** Verifies evidence with the committee of its height: null when it proves the fault, else the reason. */
export const evidenceFault = (
  evidence: Evidence,
  committee: Committee,
  isSigned: SignatureCheck,
): EvidenceFault | null => {
  if (committee.members[accusedIn(evidence).sender] === undefined) return 'OUTSIDE_COMMITTEE'
  if (evidence.kind === 'unjustified') {
    if (!isSigned(evidence.proposal, committee)) return 'SIGNATURE_INVALID'
    return isUnjustified(evidence.proposal, committee, isSigned) ? null : 'NO_CONTRADICTION'
  }
  const statements = evidence.kind === 'wrongProposer' ? [evidence.proposal] : [evidence.first, evidence.second]
  if (!contradicts(evidence, committee)) return 'NO_CONTRADICTION'
  return statements.every(statement => isSigned(statement, committee)) ? null : 'SIGNATURE_INVALID'
}

const contradicts = (evidence: Exclude<Evidence, { kind: 'unjustified' }>, committee: Committee): boolean => {
  switch (evidence.kind) {
    case 'conflict':
      return isConflict(evidence.first, evidence.second)
    case 'amnesia':
      return isAmnesia(evidence.first, evidence.second)
    case 'wrongProposer':
      return isWrongProposer(evidence.proposal, committee)
  }
}

export const isConflict = (a: Statement, b: Statement): boolean =>
  a.type === b.type && a.number === b.number && a.round === b.round && a.sender === b.sender && !isSameStatement(a, b)

/** A member that committed holds the lock: its later round changes must name that round or a later one. */
export const isAmnesia = (commit: Statement, change: Statement): boolean =>
  commit.type === 'commit' &&
  change.type === 'roundChange' &&
  commit.number === change.number &&
  commit.sender === change.sender &&
  change.round > commit.round &&
  (change.prepared?.round ?? -1) < commit.round

export const isWrongProposer = (
  proposal: Pick<Statement, 'type' | 'number' | 'round' | 'sender'>,
  committee: Committee,
): boolean =>
  proposal.type === 'proposal' && proposal.sender !== proposerIndex(committee, proposal.number, proposal.round)

/** The proposer signed its lists, so it is responsible for the signatures in them too. In round 0 the lists are not signed. */
export const isUnjustified = (head: ProposalHead, committee: Committee, isSigned: SignatureCheck): boolean => {
  if (head.round === 0) return false
  const size = committee.members.length
  if (allowedProposal(head, size, quorumOf(size)).kind === 'unjustified') return true
  return ![...head.roundChanges, ...head.prepares].every(item => isSigned(item, committee))
}
