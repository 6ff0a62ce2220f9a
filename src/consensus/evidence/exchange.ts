import { LIMITS } from '../../config/limits.ts'
import type { Logger } from '../../util/logger.ts'
import type { CommitteePort, EvidenceNetworkPort, EvidencePort, EvidenceSource, PeerId } from '../ports.ts'
import { decodeEvidence, tryDecodeEvidence } from './codec.ts'
import { accusedBy, type Evidence, evidenceFault } from './evidence.ts'
import { EvidencePool } from './pool.ts'
import type { SignatureCheck } from './statement.ts'

interface EvidenceExchangeOptions {
  readonly committees: CommitteePort
  readonly isSigned: SignatureCheck
  readonly network: EvidenceNetworkPort
  /** Number and timestamp (unix seconds) of the last committed block. */
  readonly head: () => { readonly number: number; readonly timestamp: number }
  /** Whether a committed block dealt with this member at this height already. */
  readonly isPunished: (number: number, sender: number) => boolean
  readonly logger: Logger
}

/**
 * Evidence on its way from where it was found to a block (reference/consensus.md 6): what the own engine reports and neighbours
 * bring is kept, passed on once, and offered to whoever builds the next block.
 */
export class EvidenceExchange implements EvidencePort, EvidenceSource {
  readonly #options: EvidenceExchangeOptions
  readonly #pool: EvidencePool
  #unsubscribe: () => void = () => {}

  constructor(options: EvidenceExchangeOptions) {
    const { evidence, evidenceMaxAgeBlocks, evidenceMaxAgeSeconds } = LIMITS.consensus
    this.#options = options
    this.#pool = new EvidencePool({
      items: evidence,
      maxAgeBlocks: evidenceMaxAgeBlocks,
      maxAgeSeconds: evidenceMaxAgeSeconds,
    })
  }

  get size(): number {
    return this.#pool.size
  }

  start(): void {
    this.#unsubscribe = this.#options.network.onEvidence((encoded, from) => this.#receive(encoded, from))
  }

  stop(): void {
    this.#unsubscribe()
  }

  /** From the own engine: verified. */
  report(evidence: Evidence): void {
    this.#add(evidence)
  }

  /** Encoded evidence for the next block, oldest first: as much as a block may hold (in-block.ts). */
  select(): readonly Uint8Array[] {
    const { evidenceBlockBytes, evidencePerBlock } = LIMITS.consensus
    const { number } = this.#options.head()
    return this.#pool.select({ upTo: number, maxBytes: evidenceBlockBytes, maxItems: evidencePerBlock })
  }

  /** A block was committed: what it held is dealt with, what is too old is dropped. */
  committed(encoded: readonly Uint8Array[]): void {
    for (const item of encoded) this.#pool.included(decodeEvidence(item))
    this.#pool.expire(this.#options.head())
  }

  #receive(encoded: Uint8Array, from: PeerId): void {
    const { network, committees, isSigned, isPunished, head } = this.#options
    const evidence = tryDecodeEvidence(encoded)
    if (evidence === undefined) {
      network.misbehaved?.(from)
      return
    }
    const { number, sender } = accusedBy(evidence)
    const ahead = number - head().number
    if (ahead > LIMITS.consensus.futureHeights || -ahead > LIMITS.consensus.evidenceMaxAgeBlocks) return
    // One piece for each member and height is enough: no signature of another is looked at.
    if (this.#pool.has(number, sender) || isPunished(number, sender)) return
    const committee = committees.committee(number)
    if (committee === undefined) return
    if (evidenceFault(evidence, committee, isSigned) === null) this.#add(evidence)
    else network.misbehaved?.(from)
  }

  #add(evidence: Evidence): void {
    const { network, head, isPunished, logger } = this.#options
    const { number, sender } = accusedBy(evidence)
    if (isPunished(number, sender) || !this.#pool.add(evidence, head().timestamp)) return
    logger.info({ kind: evidence.kind, number, sender }, 'evidence against a validator')
    network.broadcast(this.#pool.encodedOf(number, sender) as Uint8Array)
  }
}
