import type { Logger } from '@tandem/base/logger.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { CommitteePort } from '../ports.ts'
import { encodeEvidence, tryDecodeEvidence } from './codec.ts'
import {
  accusedIn,
  type Evidence,
  type EvidenceNetworkPort,
  type EvidencePort,
  type EvidenceStore,
  evidenceFault,
} from './evidence.ts'
import type { SignatureCheck } from './statement.ts'

interface EvidenceRelayOptions {
  /** Keeps evidence until a block holds it. */
  readonly evidencePool: EvidenceStore
  readonly committees: CommitteePort
  readonly isSigned: SignatureCheck
  readonly network: EvidenceNetworkPort
  readonly logger: Logger
}

/**
 * Exchange of evidence between nodes (docs/design/consensus.md#evidence): evidence from the own engine or from a neighbour goes to the
 * evidence pool and to all other neighbours, once per validator: more would not help, and a faulty validator can sign any number of
 * contradictions. Evidence counts only by its signatures.
 */
export class EvidenceRelay implements EvidencePort {
  readonly #options: EvidenceRelayOptions
  #unsubscribe: () => void = () => {}

  constructor(options: EvidenceRelayOptions) {
    this.#options = options
  }

  start(): void {
    this.#unsubscribe = this.#options.network.onReceived((encoded, from) => this.#receive(encoded, from))
  }

  stop(): void {
    this.#unsubscribe()
  }

  /** Takes verified evidence from the own engine. */
  report(evidence: Evidence): void {
    const { evidencePool, network, logger } = this.#options
    if (!evidencePool.report(evidence)) return
    const { number, sender } = accusedIn(evidence)
    network.broadcast(encodeEvidence(evidence))
    // Told when a crash cannot lose it any more.
    void evidencePool
      .written()
      .then(() => logger.info({ kind: evidence.kind, number, sender }, 'evidence against a validator'))
  }

  /** Rebroadcasts pending evidence; called regularly, for neighbours that connected or restarted since. */
  remind(): void {
    const { evidencePool, network } = this.#options
    for (const encoded of evidencePool.held()) network.broadcast(encoded)
  }

  #receive(encoded: Uint8Array, from: PeerId): void {
    const { evidencePool, network, committees, isSigned } = this.#options
    const evidence = tryDecodeEvidence(encoded)
    if (evidence === undefined) {
      network.misbehaved?.(from, 'evidence that proves nothing')
      return
    }
    if (!evidencePool.isOfUse(evidence)) return
    const committee = committees.committee(accusedIn(evidence).number)
    if (committee === undefined) return
    if (evidenceFault(evidence, committee, isSigned) === null) this.report(evidence)
    else network.misbehaved?.(from, 'evidence that proves nothing')
  }
}
