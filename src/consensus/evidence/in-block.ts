import { LIMITS } from '../../config/limits.ts'
import type { CommitteePort } from '../ports.ts'
import { tryDecodeEvidence } from './codec.ts'
import { accusedBy, type EvidenceFault, evidenceFault } from './evidence.ts'
import type { SignatureCheck } from './statement.ts'

/** What the rules for a block's evidence depend on; the same on every node that has the parent. */
export interface EvidenceRules {
  /** The block that holds the evidence. */
  readonly block: { readonly number: number; readonly timestamp: number }
  readonly committees: CommitteePort
  readonly isSigned: SignatureCheck
  /** Timestamp of a block below, unix seconds. */
  readonly timestampOf: (number: number) => number
  /** Whether a block below dealt with this member at this height already. */
  readonly isPunished: (number: number, sender: number) => boolean
}

export type BlockEvidenceFaultReason =
  | 'TOO_MUCH'
  | 'MALFORMED'
  /** Of a height that is not over. */
  | 'TOO_NEW'
  | 'EXPIRED'
  /** The member at that height is accused before, in this block or below. */
  | 'REPEATED'
  | 'COMMITTEE_UNKNOWN'
  | EvidenceFault

export interface BlockEvidenceFault {
  /** Place in the block's list. */
  readonly index: number
  readonly reason: BlockEvidenceFaultReason
}

/** Whether a block may hold this evidence (reference/consensus.md 6): null, or what is wrong with the first piece that may not stand. */
export const blockEvidenceFault = (encoded: readonly Uint8Array[], rules: EvidenceRules): BlockEvidenceFault | null => {
  const { evidencePerBlock, evidenceBlockBytes } = LIMITS.consensus
  const bytes = encoded.reduce((sum, item) => sum + item.byteLength, 0)
  if (encoded.length > evidencePerBlock || bytes > evidenceBlockBytes) return { index: 0, reason: 'TOO_MUCH' }
  const accused = new Set<string>()
  for (const [index, item] of encoded.entries()) {
    const reason = faultOf(item, rules, accused)
    if (reason !== null) return { index, reason }
  }
  return null
}

const faultOf = (encoded: Uint8Array, rules: EvidenceRules, accused: Set<string>): BlockEvidenceFaultReason | null => {
  const evidence = tryDecodeEvidence(encoded)
  if (evidence === undefined) return 'MALFORMED'
  const { number, sender } = accusedBy(evidence)
  const age = ageFault(number, rules)
  if (age !== null) return age
  const place = `${number} ${sender}`
  if (accused.has(place) || rules.isPunished(number, sender)) return 'REPEATED'
  accused.add(place)
  const committee = rules.committees.committee(number)
  return committee === undefined ? 'COMMITTEE_UNKNOWN' : evidenceFault(evidence, committee, rules.isSigned)
}

/** Expired is what is too old by blocks and by time. */
const ageFault = (number: number, { block, timestampOf }: EvidenceRules): 'TOO_NEW' | 'EXPIRED' | null => {
  if (number >= block.number) return 'TOO_NEW'
  const { evidenceMaxAgeBlocks, evidenceMaxAgeSeconds } = LIMITS.consensus
  if (block.number - number <= evidenceMaxAgeBlocks) return null
  return block.timestamp - timestampOf(number) > evidenceMaxAgeSeconds ? 'EXPIRED' : null
}
