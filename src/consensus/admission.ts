import { LIMITS } from '../config/limits.ts'
import type { Block } from '../primitives/block.ts'
import {
  type ConsensusMessage,
  type Decided,
  numberOfMessage,
  type SignedMessage,
} from '../primitives/consensus-message.ts'
import { readExtraData } from '../primitives/extra-data.ts'
import { proposalHead } from '../primitives/proposal.ts'
import { isBodyOf } from '../rules/body.ts'
import { commitsOf } from './certificate.ts'
import type { Committee } from './committee.ts'
import { Detector } from './evidence/detector.ts'
import { type Evidence, isWrongProposer } from './evidence/evidence.ts'
import type { CommitteePort } from './ports.ts'
import type { Verifier } from './verify.ts'

/** `true`: for the core. `false`: somebody lies. `pointless`: of no use here, though it may have been evidence. */
export type Admitted = 'true' | 'false' | 'pointless'

/** What this node is at: the last committed height, and the body it asked for. */
export interface Place {
  readonly head: number
  readonly wanted: string | null
}

interface AdmissionOptions {
  readonly committees: CommitteePort
  readonly verifier: Verifier
  readonly onEvidence: (evidence: Evidence, committee: Committee) => void
  /** A message that its sender signed, of use or not. */
  readonly onSigned?: (message: SignedMessage, committee: Committee) => void
}

/** Checks what comes from the network, and holds what was signed against its signers. Only what could matter is checked: signatures cost. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #detector = new Detector({
    heights: LIMITS.consensus.evidenceHeights,
    statements: LIMITS.consensus.statements,
  })

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  admit(message: ConsensusMessage, { head, wanted }: Place): Admitted {
    if (message.type === 'status') return 'true'
    if (message.type === 'body') {
      if (message.block.hash !== wanted) return 'pointless'
      return isWhole(message.block) ? 'true' : 'false'
    }
    const number = numberOfMessage(message)
    if (number < head + 1 - LIMITS.consensus.evidenceHeights) return 'pointless'
    if (number > head + 1 + LIMITS.consensus.futureHeights) return 'pointless'
    const committee = this.#options.committees.committee(number)
    if (committee === undefined) return 'pointless'
    return message.type === 'decided'
      ? this.#admitDecided(message, committee, head)
      : this.#admitSigned(message, committee, head)
  }

  /** Its seals are commits like any other, also those of a height that is over: of a fork they name who signed both sides. */
  #admitDecided(message: Decided, committee: Committee, head: number): Admitted {
    const { header, hash } = message.block
    if (!this.#options.verifier.isDecided(message, committee)) return 'false'
    this.#detector.advance(head + 1)
    const commits = commitsOf(message.certificate, { number: header.number, blockHash: hash })
    for (const commit of commits) this.#hold(commit, committee)
    if (header.number !== head + 1) return 'pointless'
    return isWhole(message.block) ? 'true' : 'false'
  }

  #admitSigned(message: SignedMessage, committee: Committee, head: number): Admitted {
    const { verifier, onEvidence, onSigned } = this.#options
    const verdict = verifier.judge(message, committee)
    if (verdict === 'unsigned') return 'false'
    if (verdict === 'badProof') {
      // A proposer signs its lists; those of a round change are nobody's word.
      if (message.type === 'proposal') onEvidence({ kind: 'unjustified', proposal: proposalHead(message) }, committee)
      return 'false'
    }
    onSigned?.(message, committee)
    this.#detector.advance(head + 1)
    this.#hold(message, committee)
    if (message.number <= head) return 'pointless'
    if (message.type !== 'proposal') return 'true'
    // Of a later height it would take the place of a body that counts.
    if (isWrongProposer(message, committee.members.length)) return 'pointless'
    return isWhole(message.block) ? 'true' : 'false'
  }

  /** Against what its signers said before. */
  #hold(message: SignedMessage, committee: Committee): void {
    const { verifier, onEvidence } = this.#options
    for (const found of this.#detector.observe(message, committee, verifier.isSigned)) onEvidence(found, committee)
  }
}

/**
 * Whether a body is the one its header names. The hash covers the header alone: without this, anybody who passes a block on could
 * put another body under it, which would be taken for the proposer's fault, or decided.
 */
const isWhole = (block: Block): boolean => {
  const extra = readExtraData(block.header)
  // Nothing to compare with: whoever signed it, it is judged and refused.
  return extra === undefined || isBodyOf(block, extra)
}
