import { LIMITS } from '../config/limits.ts'
import { COUNCIL_ADDRESS, type NetworkParams } from '../config/networks.ts'
import { decodeEvidence } from '../consensus/evidence/codec.ts'
import { accusedBy, type Evidence, evidenceFault } from '../consensus/evidence/evidence.ts'
import { EvidencePool } from '../consensus/evidence/pool.ts'
import type { SignatureCheck } from '../consensus/evidence/statement.ts'
import type { EvidencePort } from '../consensus/ports.ts'
import { createVerifier } from '../consensus/verify.ts'
import { recoverAddress } from '../crypto/signature.ts'
import { jailedAtSlot } from '../rules/council-storage.ts'
import type { Journal } from '../state/journal.ts'
import { type Hex, toWord } from '../util/bytes.ts'
import { CodedError, isCoded } from '../util/errors.ts'
import type { Council } from './council.ts'

/** Evidence that may not stand in the block it stands in, and why. */
export type EvidenceError =
  | { readonly code: 'BODY_EVIDENCE_TOO_MUCH'; readonly items: number; readonly bytes: number }
  | { readonly code: 'BODY_EVIDENCE_INVALID'; readonly index: number; readonly reason: string }

export interface EvidenceDeskOptions {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  readonly council: Council
}

/** Evidence a block carries, encoded, and whom it jails, one each. */
export interface Accusations {
  readonly items: readonly Uint8Array[]
  readonly offenders: readonly Hex[]
}

interface Head {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
}

/**
 * Evidence on its way into blocks, and the rule for what stands there: it proves what it says by the committee of its height, is
 * not too old, and accuses somebody that neither the chain nor an earlier item of the block has jailed. A validator is jailed once.
 */
export class EvidenceDesk implements EvidencePort {
  readonly #options: EvidenceDeskOptions
  readonly #pool: EvidencePool
  readonly #isSigned: SignatureCheck
  #head: Head

  constructor(options: EvidenceDeskOptions, head: Head) {
    const { params, genesisHash } = options
    const { evidence, cachedSignatures } = LIMITS.consensus
    this.#options = options
    this.#head = head
    this.#pool = new EvidencePool({ items: evidence, maxAgeBlocks: params.council.evidenceBlocks, maxAgeSeconds: 0 })
    this.#isSigned = createVerifier({ chainId: params.chainId, genesisHash }, recoverAddress, cachedSignatures).isSigned
  }

  /** Keeps what the engine found, or a peer sent and was checked, until a block holds it. */
  report(evidence: Evidence): void {
    this.#pool.add(evidence, this.#head.timestamp)
  }

  /** For block `number` on the head; what can stand in no later block either is forgotten. */
  select(number: number): Accusations {
    const items: Uint8Array[] = []
    const offenders = new Set<Hex>()
    for (const item of this.#pool.select(LIMITS.evidence.bytes)) {
      if (items.length >= LIMITS.evidence.items) break
      const evidence = decodeEvidence(item)
      const verdict = this.#judge(evidence, number, offenders)
      if ('fault' in verdict) {
        if (accusedBy(evidence).number < number) this.#pool.included(evidence)
        continue
      }
      offenders.add(verdict.offender)
      items.push(item)
    }
    return { items, offenders: [...offenders] }
  }

  /** The offenders of block `number` on the head, in the order of its evidence. Throws CodedError<EvidenceError>. */
  offendersOf(items: readonly Uint8Array[], number: number): readonly Hex[] {
    const bytes = items.reduce((sum, item) => sum + item.byteLength, 0)
    if (items.length > LIMITS.evidence.items || bytes > LIMITS.evidence.bytes)
      throw new CodedError<EvidenceError>({ code: 'BODY_EVIDENCE_TOO_MUCH', items: items.length, bytes })
    const offenders = new Set<Hex>()
    items.forEach((item, index) => {
      const verdict = this.#judge(decoded(item, index), number, offenders)
      if ('fault' in verdict) throw invalid(index, verdict.fault)
      offenders.add(verdict.offender)
    })
    return [...offenders]
  }

  /** A block is the head: what it holds is done with. */
  onBlock(header: Head, items: readonly Uint8Array[]): void {
    this.#head = header
    for (const item of items) this.#pool.included(decodeEvidence(item))
    this.#pool.expire(header)
  }

  #judge(
    evidence: Evidence,
    number: number,
    offenders: ReadonlySet<Hex>,
  ): { readonly offender: Hex } | { readonly fault: string } {
    const { council, params } = this.#options
    const accused = accusedBy(evidence)
    if (accused.number < 1 || accused.number >= number) return { fault: 'it speaks of no block before this one' }
    if (number - accused.number > params.council.evidenceBlocks) return { fault: 'it is too old' }
    const committee = council.committee(accused.number)
    const offender = committee?.members[accused.sender]
    if (committee === undefined || offender === undefined) return { fault: 'it accuses no member of that committee' }
    if (offenders.has(offender) || council.jailedAt(offender) > 0) return { fault: `${offender} is jailed already` }
    const fault = evidenceFault(evidence, committee, this.#isSigned)
    return fault === null ? { offender } : { fault }
  }
}

/**
 * Writes into the contract, after the last transaction of block `number`, whom its evidence jailed: the state says so from then on,
 * on every node and through every way of getting that state.
 */
export const jail = (journal: Journal, offenders: readonly Hex[], number: number): void => {
  if (offenders.length === 0) return
  const word = toWord(BigInt(number))
  for (const offender of offenders) journal.setStorage(COUNCIL_ADDRESS, jailedAtSlot(offender), word)
  journal.endTransaction()
}

const invalid = (index: number, reason: string) =>
  new CodedError<EvidenceError>({ code: 'BODY_EVIDENCE_INVALID', index, reason })

const decoded = (item: Uint8Array, index: number): Evidence => {
  try {
    return decodeEvidence(item)
  } catch (error) {
    throw isCoded(error) ? invalid(index, error.message) : error
  }
}
