import { LIMITS } from '../../config/limits.ts'
import type { Logger } from '../../util/logger.ts'
import type { CommitteePort, EvidenceNetworkPort, EvidencePort, PeerId } from '../ports.ts'
import { encodeEvidence, tryDecodeEvidence } from './codec.ts'
import { accusedBy, type Evidence, evidenceFault } from './evidence.ts'
import type { SignatureCheck } from './statement.ts'

interface EvidenceGossipOptions {
  /** Keeps what is proven until a block holds it. */
  readonly desk: EvidencePort
  readonly committees: CommitteePort
  readonly isSigned: SignatureCheck
  readonly network: EvidenceNetworkPort
  /** Number of the last committed block. */
  readonly head: () => number
  /** Heights after which the desk has no use for it. */
  readonly maxAgeBlocks: number
  readonly logger: Logger
}

/**
 * Evidence between nodes (reference/consensus.md 6): what the own engine reports and neighbours bring goes to the desk and to all
 * other neighbours, once for each member and height. Nothing is believed that its signatures do not show.
 */
export class EvidenceGossip implements EvidencePort {
  readonly #options: EvidenceGossipOptions
  /** Height and index of those accused here before, the latest last. */
  readonly #accused = new Set<string>()
  #unsubscribe: () => void = () => {}

  constructor(options: EvidenceGossipOptions) {
    this.#options = options
  }

  /** Accusations remembered, for the bound on memory. */
  get size(): number {
    return this.#accused.size
  }

  start(): void {
    this.#unsubscribe = this.#options.network.onEvidence((encoded, from) => this.#receive(encoded, from))
  }

  stop(): void {
    this.#unsubscribe()
  }

  /** From the own engine: verified. */
  report(evidence: Evidence): void {
    if (!this.#isKnown(evidence)) this.#pass(evidence)
  }

  #receive(encoded: Uint8Array, from: PeerId): void {
    const { network, committees, isSigned, head, maxAgeBlocks } = this.#options
    const evidence = tryDecodeEvidence(encoded)
    if (evidence === undefined) {
      network.misbehaved?.(from)
      return
    }
    const { number } = accusedBy(evidence)
    const ahead = number - head()
    if (ahead > LIMITS.consensus.futureHeights || -ahead > maxAgeBlocks) return
    // One piece for each member and height is enough: no signature of another is looked at.
    if (this.#isKnown(evidence)) return
    const committee = committees.committee(number)
    if (committee === undefined) return
    if (evidenceFault(evidence, committee, isSigned) === null) this.#pass(evidence)
    else network.misbehaved?.(from)
  }

  #isKnown(evidence: Evidence): boolean {
    return this.#accused.has(keyOf(evidence))
  }

  #pass(evidence: Evidence): void {
    const { desk, network, logger } = this.#options
    const [oldest] = this.#accused
    if (oldest !== undefined && this.#accused.size >= LIMITS.consensus.evidence) this.#accused.delete(oldest)
    this.#accused.add(keyOf(evidence))
    const { number, sender } = accusedBy(evidence)
    logger.info({ kind: evidence.kind, number, sender }, 'evidence against a validator')
    desk.report(evidence)
    network.broadcast(encodeEvidence(evidence))
  }
}

const keyOf = (evidence: Evidence): string => {
  const { number, sender } = accusedBy(evidence)
  return `${number} ${sender}`
}
