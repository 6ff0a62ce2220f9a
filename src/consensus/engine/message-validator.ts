import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { Block } from '../../primitives/block.ts'
import { readExtraData } from '../../primitives/consensus/extra-data.ts'
import {
  type BlockClaim,
  type ConsensusMessage,
  type MessageAcceptance,
  type SignedHead,
  signedHead,
} from '../../primitives/consensus/message.ts'
import { isBodyOf } from '../../rules/body.ts'
import { quorumOf } from '../../rules/council/quorum.ts'
import { commitsFromCertificate } from '../certificate.ts'
import type { Committee } from '../committee.ts'
import { isValidRoundChange } from '../core/messages/justification.ts'
import { EvidenceDetector } from '../evidence/detector.ts'
import { type Evidence, isWrongProposer } from '../evidence/evidence.ts'
import type { CommitteePort } from '../ports.ts'
import type { SignatureVerifier } from '../signer/signature-verifier.ts'

/** Position of the node: the last committed height, the round of the open one, and the bodies it requested. */
export interface ChainPosition {
  readonly head: number
  readonly round: number
  readonly wanted: ReadonlySet<Hex>
}

interface MessageValidatorOptions {
  readonly committees: CommitteePort
  readonly verifier: SignatureVerifier
  readonly onEvidence: (evidence: Evidence, committee: Committee) => void
  /** Called for every message signed by its sender, needed or not. */
  readonly onSigned?: (message: SignedHead, committee: Committee) => void
}

type DecidedClaim = Extract<BlockClaim, { type: 'decided' }>

/** Validates messages and records signed ones as evidence, the cheapest check first: height, signatures, then the body. */
export class MessageValidator {
  readonly #options: MessageValidatorOptions
  readonly #detector = new EvidenceDetector({
    heights: CONSENSUS_LIMITS.evidenceHeights,
    statements: CONSENSUS_LIMITS.statements,
  })

  constructor(options: MessageValidatorOptions) {
    this.#options = options
  }

  /** Validates a message before its block is decoded; `accept` means the block may be needed. */
  validateClaim(claim: BlockClaim, position: ChainPosition): MessageAcceptance {
    if (claim.type === 'body') return position.wanted.has(claim.blockHash) ? 'accept' : 'ignore'
    return claim.type === 'decided' ? this.#admitDecided(claim, position) : this.#admitSigned(claim.head, position)
  }

  admit(message: ConsensusMessage, position: ChainPosition): MessageAcceptance {
    switch (message.type) {
      case 'status':
        return 'accept'
      case 'body':
        return position.wanted.has(message.block.hash) ? acceptIfWhole(message.block) : 'ignore'
      case 'decided': {
        const { block, certificate } = message
        const claim = { type: 'decided', number: block.header.number, blockHash: block.hash, certificate } as const
        const messageAcceptance = this.#admitDecided(claim, position)
        return messageAcceptance === 'accept' ? acceptIfWhole(block) : messageAcceptance
      }
      default: {
        const messageAcceptance = this.#admitSigned(signedHead(message), position)
        return messageAcceptance === 'accept' && message.type === 'proposal'
          ? acceptIfWhole(message.block)
          : messageAcceptance
      }
    }
  }

  /** Returns undefined for a height too far from the head, or beyond the known committees. */
  #committeeOf(number: number, head: number): Committee | undefined {
    if (number < head + 1 - CONSENSUS_LIMITS.evidenceHeights) return undefined
    if (number > head + 1 + CONSENSUS_LIMITS.futureHeights) return undefined
    return this.#options.committees.committee(number)
  }

  /** Its seals are commits like any other, also those of a past height: on a fork they identify the members that signed both sides. */
  #admitDecided(claim: DecidedClaim, { head, round }: ChainPosition): MessageAcceptance {
    const committee = this.#committeeOf(claim.number, head)
    if (committee === undefined) return 'ignore'
    if (!this.#options.verifier.isDecided(claim, committee)) return 'reject'
    this.#detector.advance(head + 1, round)
    for (const commit of commitsFromCertificate(claim.certificate, claim)) this.#hold(commit, committee)
    return claim.number === head + 1 ? 'accept' : 'ignore'
  }

  #admitSigned(message: SignedHead, { head, round }: ChainPosition): MessageAcceptance {
    const { verifier, onEvidence, onSigned } = this.#options
    const committee = this.#committeeOf(message.number, head)
    if (committee === undefined) return 'ignore'
    const verdict = verifier.verify(message, committee)
    if (verdict === 'unsigned') return 'reject'
    if (verdict === 'badProof') {
      // A proposer signs its lists; the lists of a round change are not signed.
      if (message.type === 'proposal') onEvidence({ kind: 'unjustified', proposal: message }, committee)
      return 'reject'
    }
    onSigned?.(message, committee)
    this.#detector.advance(head + 1, round)
    this.#hold(message, committee)
    if (message.number <= head) return 'ignore'
    // Anybody can take the unsigned prepares from a round change: what is left says nothing, and is relayed to nobody.
    const { length } = committee.members
    if (message.type === 'roundChange' && !isValidRoundChange(message, length, quorumOf(length))) return 'ignore'
    // At a later height it would occupy the place of a valid body.
    if (message.type === 'proposal' && isWrongProposer(message, committee)) return 'ignore'
    return 'accept'
  }

  /** Compares a message with earlier ones of its signers. */
  #hold(message: SignedHead, committee: Committee): void {
    const { verifier, onEvidence } = this.#options
    for (const found of this.#detector.observe(message, committee, verifier.isSigned)) onEvidence(found, committee)
  }
}

const acceptIfWhole = (block: Block): MessageAcceptance => (isWhole(block) ? 'accept' : 'reject')

/** Returns true when a body is the one its header names: else a relay could replace it, as the hash covers only the header. */
const isWhole = (block: Block): boolean => {
  const extra = readExtraData(block.header)
  // Nothing to compare with: the block is validated and rejected.
  return extra === undefined || isBodyOf(block, extra)
}
