import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import { certificateFault, type RecoverAddress } from '../../../src/consensus/certificate.ts'
import { decodeEvidence, encodeEvidence } from '../../../src/consensus/evidence/codec.ts'
import { accusedIn, type Evidence, evidenceFault } from '../../../src/consensus/evidence/evidence.ts'
import type { SignatureCheck } from '../../../src/consensus/evidence/statement.ts'
import type { CommitteePort } from '../../../src/consensus/ports.ts'
import { createSignatureVerifier } from '../../../src/consensus/signer/signature-verifier.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { type Certificate, signerIndexes } from '../../../src/primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { SigningDomain } from '../../../src/primitives/consensus/vote.ts'
import { isBodyOf } from '../../../src/rules/body.ts'
import { maxTimestamp } from '../../../src/rules/header.ts'
import { blockFault, type LedgerBlock } from '../member/ledger.ts'
import { short } from '../network/envelope.ts'
import type { ProofAudit } from './proof-audit.ts'
import { SentMessages } from './sent-messages.ts'
import type { Rule, Violation } from './violation.ts'
import { VoteTotals, type VotingCommittee } from './vote-totals.ts'

/** State of a member's machine when it sends: whether the log holds the message, and the latest time its clock showed. */
interface MemberWitness {
  readonly isDurable: () => boolean
  readonly latestMs: number
}

interface RefereeOptions {
  readonly council: CommitteePort
  readonly addresses: readonly Hex[]
  readonly byzantine: ReadonlySet<number>
  readonly domain: SigningDomain
  readonly recover: RecoverAddress
  readonly blockTimeMs: number
  readonly proofs: ProofAudit
}

/**
 * Observes all messages, decisions and accusations of honest members and checks the invariants
 * (docs/design/consensus.md#invariants).
 */
export class InvariantChecker {
  readonly #options: RefereeOptions
  readonly #said = new Map<number, SentMessages>()
  readonly #voteTotals: VoteTotals
  readonly #decided = new Map<number, Hex>()
  /** Timestamp and proposer of each block. */
  readonly #offers = new Map<Hex, { readonly timestamp: number; readonly node: number }>()
  readonly #isSigned: SignatureCheck
  /** Accuser, height and index of the accused. */
  readonly #accusations = new Set<string>()
  violation: Violation | null = null
  accusations = 0
  /** Proposals refused by the vote rule of the proof chain. */
  omissions = 0

  constructor(options: RefereeOptions) {
    this.#options = options
    this.#isSigned = createSignatureVerifier(
      options.domain,
      options.recover,
      CONSENSUS_LIMITS.cachedSignatures,
    ).isSigned
    this.#voteTotals = new VoteTotals(this.report, number => this.#committeeAt(number))
  }

  get maxLaterRound(): number {
    return this.#voteTotals.maxLaterRound
  }

  get maxRound(): number {
    return this.#voteTotals.maxRound
  }

  get maxHealedRounds(): number {
    return this.#voteTotals.maxHealedRounds
  }

  /** Called when all faults have ended. */
  heal(): void {
    this.#voteTotals.heal()
  }

  report = (rule: Rule, text: string): void => {
    this.violation ??= { rule, text }
  }

  /** Records a block made by a byzantine node. */
  offered(block: Block, node: number): void {
    if (!this.#offers.has(block.hash)) this.#offers.set(block.hash, { timestamp: block.header.timestamp, node })
  }

  /** Handles a message sent by an honest member. Returns true when it is sent for the first time. */
  said(node: number, message: SignedMessage, { isDurable, latestMs }: MemberWitness): boolean {
    let sentMessages = this.#said.get(node)
    if (sentMessages === undefined) {
      sentMessages = new SentMessages(node, this.report)
      this.#said.set(node, sentMessages)
    }
    if (!sentMessages.add(message, isDurable)) return false
    this.#voteTotals.add(node, message)
    if (message.type === 'proposal') this.offered(message.block, node)
    if (message.type === 'prepare') this.#checkTimestamp(node, message.blockHash, latestMs)
    return true
  }

  /** Only the proposer may send messages for a block from the future. */
  #checkTimestamp(node: number, hash: Hex, latestMs: number): void {
    const offer = this.#offers.get(hash)
    if (offer === undefined || offer.node === node || offer.timestamp <= maxTimestamp(latestMs)) return
    const aheadMs = offer.timestamp * 1000 - latestMs
    this.report('timestamp', `member ${node} prepared ${short(hash)}, ${aheadMs} ms before its time`)
  }

  decided(node: number, { block, certificate, parent, stateBefore, seed }: LedgerBlock): void {
    const { number } = block.header
    const known = this.#decided.get(number)
    if (known !== undefined && known !== block.hash) {
      this.report('agreement', `member ${node} decided ${short(block.hash)} at ${number}, others ${short(known)}`)
    }
    this.#decided.set(number, block.hash)
    const fault = blockFault(block, parent, stateBefore, this.#options.blockTimeMs)
    if (fault !== null) this.report('validity', `member ${node} decided ${short(block.hash)} at ${number}: ${fault}`)
    const doubt = this.#certificateFault(certificate, { number, blockHash: block.hash })
    if (doubt !== null) this.report('chain', `member ${node} has no certificate for ${number}: ${doubt}`)
    const extra = decodeExtraData(block.header.extraData)
    const { parentCertificate } = extra
    if (!isBodyOf(block, extra))
      this.report('validity', `member ${node} decided ${short(block.hash)} with the body of another`)
    const proofFault = this.#options.proofs.fault(block, extra, seed)
    if (proofFault !== null)
      this.report('proof', `member ${node} decided ${short(block.hash)} at ${number}: ${proofFault}`)
    this.#checkMaker(node, block, extra.proposer, certificate.round)
    const sealed = { number: parent.number, blockHash: parent.hash }
    const carried = number === 1 ? null : this.#certificateFault(parentCertificate, sealed)
    if (carried !== null) this.report('validity', `member ${node} decided ${number} without a parent's: ${carried}`)
  }

  /** A block names a proposer of its height up to the round of its decision; an honest one has proposed it. */
  #checkMaker(node: number, { hash, header: { number } }: Block, named: Hex, round: number): void {
    const { council, addresses, byzantine } = this.#options
    const { members, proposers = members.length } = council.committee(number) ?? { members: [] }
    const index = members.indexOf(named)
    const rounds = Array.from({ length: Math.min(round + 1, members.length) }, (_, back) => round - back)
    if (!rounds.some(at => (number + at) % proposers === index))
      this.report(
        'validity',
        `member ${node} decided ${short(hash)} at ${number}, which names ${named} in round ${round}`,
      )
    const maker = addresses.indexOf(named)
    // A lone member may crash between its log and its first message, and then decides from the log.
    if (members.length > 1 && !byzantine.has(maker) && this.#offers.get(hash)?.node !== maker)
      this.report(
        'validity',
        `member ${node} decided ${short(hash)} at ${number}, which member ${maker} never proposed`,
      )
  }

  /** Handles an accusation by an honest member: only byzantine members may be accused, and the proof must verify. */
  accused(node: number, evidence: Evidence): void {
    this.accusations++
    const { addresses, byzantine, council } = this.#options
    const proof = decodeEvidence(encodeEvidence(evidence))
    const { number, sender } = accusedIn(proof)
    this.#accusations.add(`${node} ${number} ${sender}`)
    const committee = council.committee(number) ?? { members: [] }
    const accused = addresses.indexOf(committee.members[sender] as Hex)
    const text = `member ${node} accuses ${accused} of ${evidence.kind} at ${number}`
    if (!byzantine.has(accused)) this.report('evidence', text)
    const fault = evidenceFault(proof, committee, this.#isSigned)
    if (fault !== null) this.report('evidence', `${text} without a proof: ${fault}`)
  }

  /** True when this member has accused that one at this height. */
  hasAccused(node: number, { number, sender }: Pick<SignedMessage, 'number' | 'sender'>): boolean {
    return this.#accusations.has(`${node} ${number} ${sender}`)
  }

  #certificateFault(
    certificate: Certificate | null,
    sealed: { readonly number: number; readonly blockHash: Hex },
  ): string | null {
    const { council, domain, recover } = this.#options
    const committee = council.committee(sealed.number)
    if (committee === undefined || certificate === null) return 'there is none'
    // Counted here independently: the engine's own arithmetic may be wrong.
    if (3 * signerIndexes(certificate).length < 2 * committee.members.length) return 'NO_QUORUM'
    return certificateFault(certificate, sealed, committee, domain, recover)
  }

  #committeeAt(number: number): VotingCommittee {
    const { council, addresses, byzantine } = this.#options
    const members = council.committee(number)?.members ?? []
    return {
      size: members.length,
      byzantine: members.filter(member => byzantine.has(addresses.indexOf(member))).length,
    }
  }
}
