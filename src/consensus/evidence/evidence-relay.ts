import type { PeerId } from '../../primitives/peer-id.ts'
import type { Logger } from '../../util/logger.ts'
import type { CommitteePort, EvidenceNetworkPort, EvidencePort, EvidenceStore } from '../ports.ts'
import { encodeEvidence, tryDecodeEvidence } from './codec.ts'
import { accusedIn, type Evidence, evidenceFault } from './evidence.ts'
import type { SignatureCheck } from './statement.ts'

interface EvidenceGossipOptions {
  /** Keeps what is proven until a block holds it. */
  readonly evidencePool: EvidenceStore
  readonly committees: CommitteePort
  readonly isSigned: SignatureCheck
  readonly network: EvidenceNetworkPort
  readonly logger: Logger
}

/**
 * Evidence between nodes (docs/design/consensus.md#evidence): what the own engine reports and neighbours bring goes to the desk and to all
 * other neighbours, once for each validator: more would help nobody, and whoever signs a contradiction can sign a million. Nothing is
 * believed that its signatures do not show.
 */
export class EvidenceRelay implements EvidencePort {
  readonly #options: EvidenceGossipOptions
  #unsubscribe: () => void = () => {}

  constructor(options: EvidenceGossipOptions) {
    this.#options = options
  }

  start(): void {
    this.#unsubscribe = this.#options.network.onEvidence((encoded, from) => this.#receive(encoded, from))
  }

  stop(): void {
    this.#unsubscribe()
  }

  /** From the own engine: verified. */
  report(evidence: Evidence): void {
    const { evidencePool, network, logger } = this.#options
    if (!evidencePool.report(evidence)) return
    const { number, sender } = accusedIn(evidence)
    logger.info({ kind: evidence.kind, number, sender }, 'evidence against a validator')
    network.broadcast(encodeEvidence(evidence))
  }

  /** To be called now and then: neighbours that came since, or since a restart, hear what no block holds yet. */
  remind(): void {
    const { evidencePool, network } = this.#options
    for (const encoded of evidencePool.held()) network.broadcast(encoded)
  }

  #receive(encoded: Uint8Array, from: PeerId): void {
    const { evidencePool, network, committees, isSigned } = this.#options
    const evidence = tryDecodeEvidence(encoded)
    if (evidence === undefined) {
      network.misbehaved?.(from)
      return
    }
    if (!evidencePool.isOfUse(evidence)) return
    const committee = committees.committee(accusedIn(evidence).number)
    if (committee === undefined) return
    if (evidenceFault(evidence, committee, isSigned) === null) this.report(evidence)
    else network.misbehaved?.(from)
  }
}
