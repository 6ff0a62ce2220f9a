import { LIMITS } from '../../config/limits.ts'
import type { Block } from '../../primitives/block.ts'
import type { BlockClaim } from '../../primitives/block-claim.ts'
import type { MessageAcceptance } from '../../primitives/consensus/acceptance.ts'
import { type ConsensusMessage, type SignedHead, signedHead } from '../../primitives/consensus/message.ts'
import { readExtraData } from '../../primitives/extra-data.ts'
import { isBodyOf } from '../../rules/body.ts'
import { commitsFromCertificate } from '../certificate.ts'
import type { Committee } from '../committee.ts'
import { EvidenceDetector } from '../evidence/detector.ts'
import { type Evidence, isWrongProposer } from '../evidence/evidence.ts'
import type { CommitteePort } from '../ports.ts'
import type { SignatureVerifier } from '../signer/signature-verifier.ts'

/** What this node is at: the last committed height, and the body it asked for. */
export interface ChainPosition {
  readonly head: number
  readonly wanted: string | null
}

interface AdmissionOptions {
  readonly committees: CommitteePort
  readonly verifier: SignatureVerifier
  readonly onEvidence: (evidence: Evidence, committee: Committee) => void
  /** A message that its sender signed, of use or not. */
  readonly onSigned?: (message: SignedHead, committee: Committee) => void
}

type DecidedClaim = Extract<BlockClaim, { type: 'decided' }>

/**
 * Checks what comes from the network, and holds what was signed against its signers. The cheapest check comes first: place, then
 * signatures, then the body, which is read only once a claim was found right.
 */
export class MessageValidator {
  readonly #options: AdmissionOptions
  readonly #detector = new EvidenceDetector({
    heights: LIMITS.consensus.evidenceHeights,
    statements: LIMITS.consensus.statements,
  })

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Judges a message before its block is decoded: `accept`, the block may be of use. */
  judgeClaim(claim: BlockClaim, { head, wanted }: ChainPosition): MessageAcceptance {
    if (claim.type === 'body') return claim.blockHash === wanted ? 'accept' : 'ignore'
    return claim.type === 'decided' ? this.#admitDecided(claim, head) : this.#admitSigned(claim.head, head)
  }

  admit(message: ConsensusMessage, { head, wanted }: ChainPosition): MessageAcceptance {
    switch (message.type) {
      case 'status':
        return 'accept'
      case 'body':
        return message.block.hash === wanted ? acceptIfWhole(message.block) : 'ignore'
      case 'decided': {
        const { block, certificate } = message
        const claim = { type: 'decided', number: block.header.number, blockHash: block.hash, certificate } as const
        const messageAcceptance = this.#admitDecided(claim, head)
        return messageAcceptance === 'accept' ? acceptIfWhole(block) : messageAcceptance
      }
      default: {
        const messageAcceptance = this.#admitSigned(signedHead(message), head)
        return messageAcceptance === 'accept' && message.type === 'proposal'
          ? acceptIfWhole(message.block)
          : messageAcceptance
      }
    }
  }

  /** undefined: a height too far from the head, or beyond the known committees. */
  #committeeOf(number: number, head: number): Committee | undefined {
    if (number < head + 1 - LIMITS.consensus.evidenceHeights) return undefined
    if (number > head + 1 + LIMITS.consensus.futureHeights) return undefined
    return this.#options.committees.committee(number)
  }

  /** Its seals are commits like any other, also those of a height that is over: of a fork they name who signed both sides. */
  #admitDecided(claim: DecidedClaim, head: number): MessageAcceptance {
    const committee = this.#committeeOf(claim.number, head)
    if (committee === undefined) return 'ignore'
    if (!this.#options.verifier.isDecided(claim, committee)) return 'reject'
    this.#detector.advance(head + 1)
    for (const commit of commitsFromCertificate(claim.certificate, claim)) this.#hold(commit, committee)
    return claim.number === head + 1 ? 'accept' : 'ignore'
  }

  #admitSigned(message: SignedHead, head: number): MessageAcceptance {
    const { verifier, onEvidence, onSigned } = this.#options
    const committee = this.#committeeOf(message.number, head)
    if (committee === undefined) return 'ignore'
    const verdict = verifier.judge(message, committee)
    if (verdict === 'unsigned') return 'reject'
    if (verdict === 'badProof') {
      // A proposer signs its lists; those of a round change are nobody's word.
      if (message.type === 'proposal') onEvidence({ kind: 'unjustified', proposal: message }, committee)
      return 'reject'
    }
    onSigned?.(message, committee)
    this.#detector.advance(head + 1)
    this.#hold(message, committee)
    if (message.number <= head) return 'ignore'
    // Of a later height it would take the place of a body that counts.
    if (message.type === 'proposal' && isWrongProposer(message, committee.members.length)) return 'ignore'
    return 'accept'
  }

  /** Against what its signers said before. */
  #hold(message: SignedHead, committee: Committee): void {
    const { verifier, onEvidence } = this.#options
    for (const found of this.#detector.observe(message, committee, verifier.isSigned)) onEvidence(found, committee)
  }
}

const acceptIfWhole = (block: Block): MessageAcceptance => (isWhole(block) ? 'accept' : 'reject')

/**
 * Whether a body is the one its header names. The hash covers the header alone: without this, anybody who passes a block on could
 * put another body under it, which would be taken for the proposer's fault, or decided.
 */
const isWhole = (block: Block): boolean => {
  const extra = readExtraData(block.header)
  // Nothing to compare with: whoever signed it, it is judged and refused.
  return extra === undefined || isBodyOf(block, extra)
}
