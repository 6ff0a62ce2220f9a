import { bytesToHex, copyBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import { COUNCIL_ADDRESS, type NetworkParams } from '../../config/networks.ts'
import { EVIDENCE_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeEvidence, encodeEvidence, tryDecodeEvidence } from '../../consensus/evidence/codec.ts'
import { accusedIn, type Evidence, type EvidenceStore, evidenceFault } from '../../consensus/evidence/evidence.ts'
import type { SignatureCheck } from '../../consensus/evidence/statement.ts'
import { createSignatureVerifier } from '../../consensus/signer/signature-verifier.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import { jailedAtSlot } from '../../rules/council/council-storage.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store } from '../../storage/store.ts'
import type { Council } from './council.ts'

/** Reason why a block must not include a piece of evidence. */
export type EvidenceError =
  | { readonly code: 'BODY_EVIDENCE_TOO_MUCH'; readonly items: number; readonly bytes: number }
  | { readonly code: 'BODY_EVIDENCE_INVALID'; readonly index: number; readonly reason: string }
  /** This node does not know the committee of the block that the evidence is about. */
  | { readonly code: 'BODY_EVIDENCE_UNKNOWN'; readonly index: number; readonly number: number }

/** Verified evidence in no block yet: one piece per validator, for a bounded number. The owner removes expired evidence. */
export class PendingEvidence {
  readonly #entries = new Map<Hex, { readonly number: number; readonly encoded: Uint8Array }>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#entries.size
  }

  /** Returns true when evidence against this validator would be kept. */
  wants(offender: Hex): boolean {
    return !this.#entries.has(offender) && this.#entries.size < this.#limit
  }

  /** Adds evidence that `wants` accepted; returns its encoding. */
  add(offender: Hex, evidence: Evidence): Uint8Array {
    const encoded = encodeEvidence(evidence)
    this.#entries.set(offender, { number: accusedIn(evidence).number, encoded })
    return encoded
  }

  /** Returns encoded evidence with the accused validator, lowest height first. */
  all(): readonly { readonly offender: Hex; readonly encoded: Uint8Array }[] {
    return [...this.#entries]
      .sort(([, a], [, b]) => a.number - b.number)
      .map(([offender, { encoded }]) => ({ offender, encoded }))
  }

  /** Removes evidence that a block holds, or that has expired; returns false when there was none. */
  remove(offender: Hex): boolean {
    return this.#entries.delete(offender)
  }
}

interface EvidencePoolOptions {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  readonly council: Council
  /** Holds evidence that no block holds yet, by accused validator: it survives a restart. */
  readonly store: Store
  readonly logger: Logger
}

/**
 * Pool of evidence for blocks, and the rule for including it: the evidence proves its claim with the committee of its height, is not too
 * old, and accuses a validator that neither the chain nor an earlier item of the block has jailed. A validator is jailed once, so one
 * piece per validator is kept, in the database until a block holds it.
 */
export class EvidencePool implements EvidenceStore {
  readonly #options: EvidencePoolOptions
  readonly #pool = new PendingEvidence(CONSENSUS_LIMITS.evidence)
  readonly #isSigned: SignatureCheck
  #head: number
  #writing: Promise<void> = Promise.resolve()

  private constructor(options: EvidencePoolOptions, head: number) {
    const { params, genesisHash } = options
    const { cachedSignatures } = CONSENSUS_LIMITS
    this.#options = options
    this.#head = head
    this.#isSigned = createSignatureVerifier(
      { chainId: params.chainId, genesisHash },
      recoverAddress,
      cachedSignatures,
    ).isSigned
  }

  /** Opens the pool with the evidence left from earlier runs; `head` is the number of the last committed block. */
  static async open(options: EvidencePoolOptions, head: number): Promise<EvidencePool> {
    const evidencePool = new EvidencePool(options, head)
    const rows: (readonly [offender: Hex, encoded: Uint8Array])[] = []
    for await (const [key, encoded] of options.store.entries(BUCKETS.evidence))
      rows.push([bytesToHex(key), copyBytes(encoded)])
    for (const [offender, encoded] of rows) {
      const evidence = tryDecodeEvidence(encoded)
      if (evidence !== undefined && evidencePool.#wanted(evidence) === offender)
        evidencePool.#pool.add(offender, evidence)
      else evidencePool.#removeRow(offender)
    }
    return evidencePool
  }

  isOfUse(evidence: Evidence): boolean {
    return this.#wanted(evidence) !== undefined
  }

  /** Keeps evidence from the engine, or verified evidence of a peer, until a block holds it. */
  report(evidence: Evidence): boolean {
    const offender = this.#wanted(evidence)
    if (offender === undefined) return false
    const encoded = this.#pool.add(offender, evidence)
    this.#write(offender, batch => batch.put(BUCKETS.evidence, hexToBytes(offender), encoded))
    return true
  }

  held(): readonly Uint8Array[] {
    return this.#pool.all().map(({ encoded }) => encoded)
  }

  /** Resolves when all held evidence is on disk; awaited before the store is closed. */
  written(): Promise<void> {
    return this.#writing
  }

  /** Selects evidence for block `number` on the head, with the validators it jails, one each; drops items that no later block can include either. */
  select(number: number) {
    const items: Uint8Array[] = []
    const offenders = new Set<Hex>()
    let bytes = 0
    for (const { offender, encoded } of this.#pool.all()) {
      if (items.length >= EVIDENCE_BOUNDS.items) break
      if (bytes + encoded.byteLength > EVIDENCE_BOUNDS.bytes) continue
      const evidence = decodeEvidence(encoded)
      if (!('offender' in this.#check(evidence, number, offenders))) {
        if (accusedIn(evidence).number < number) this.#forget(offender)
        continue
      }
      bytes += encoded.byteLength
      offenders.add(offender)
      items.push(encoded)
    }
    return { items, offenders: [...offenders] }
  }

  /** Returns the offenders of block `number` on the head, in the order of its evidence. Throws CodedError<EvidenceError>. */
  offendersOf(items: readonly Uint8Array[], number: number): readonly Hex[] {
    const bytes = items.reduce((sum, item) => sum + item.byteLength, 0)
    if (items.length > EVIDENCE_BOUNDS.items || bytes > EVIDENCE_BOUNDS.bytes)
      throw new CodedError<EvidenceError>({ code: 'BODY_EVIDENCE_TOO_MUCH', items: items.length, bytes })
    const offenders = new Set<Hex>()
    items.forEach((item, index) => {
      const evidence = decoded(item, index)
      const verdict = this.#check(evidence, number, offenders)
      if ('unknown' in verdict)
        throw new CodedError<EvidenceError>({ code: 'BODY_EVIDENCE_UNKNOWN', index, number: verdict.unknown })
      if ('fault' in verdict) throw invalid(index, verdict.fault)
      offenders.add(verdict.offender)
    })
    return [...offenders]
  }

  /** Handles a new head: drops evidence against validators it jailed, and evidence too old for the next block. */
  onBlock({ number }: { readonly number: number }): void {
    this.#head = number
    for (const { offender, encoded } of this.#pool.all()) {
      const isOld = number + 1 - accusedIn(decodeEvidence(encoded)).number > this.#options.params.council.evidenceBlocks
      if (isOld || this.#options.council.jailedAt(offender) > 0) this.#forget(offender)
    }
  }

  /** Returns the accused if evidence against it could be included in a later block and none is held. Checks no signature. */
  #wanted(evidence: Evidence): Hex | undefined {
    const { council, params } = this.#options
    const { number, sender } = accusedIn(evidence)
    const next = this.#head + 1
    if (number < 1 || number > next + CONSENSUS_LIMITS.futureHeights) return undefined
    if (next - number > params.council.evidenceBlocks) return undefined
    const offender = council.committee(number)?.members[sender]
    if (offender === undefined || !this.#pool.wants(offender) || council.jailedAt(offender) > 0) return undefined
    // Evidence too large for any block would occupy its slot for ever and keep other evidence out.
    return encodeEvidence(evidence).byteLength <= EVIDENCE_BOUNDS.bytes ? offender : undefined
  }

  #forget(offender: Hex): void {
    if (this.#pool.remove(offender)) this.#removeRow(offender)
  }

  #removeRow(offender: Hex): void {
    this.#write(offender, batch => batch.del(BUCKETS.evidence, hexToBytes(offender)))
  }

  /** Writes in order; a failure is only logged, since no caller waits and the store ends the node. */
  #write(offender: Hex, change: (batch: Batch) => void): void {
    const { store, logger } = this.#options
    this.#writing = this.#writing.then(async () => {
      try {
        const batch = store.batch()
        change(batch)
        await batch.write()
      } catch (error) {
        logger.error({ err: error, validator: offender }, 'evidence not written')
      }
    })
  }

  #check(
    evidence: Evidence,
    number: number,
    offenders: ReadonlySet<Hex>,
  ): { readonly offender: Hex } | { readonly fault: string } | { readonly unknown: number } {
    const { council, params } = this.#options
    const accused = accusedIn(evidence)
    if (accused.number < 1 || accused.number >= number) return { fault: 'it speaks of no block before this one' }
    if (number - accused.number > params.council.evidenceBlocks) return { fault: 'it is too old' }
    const committee = council.committee(accused.number)
    if (committee === undefined) return { unknown: accused.number }
    const offender = committee.members[accused.sender]
    if (offender === undefined) return { fault: 'it accuses no member of that committee' }
    if (offenders.has(offender) || council.jailedAt(offender) > 0) return { fault: `${offender} is jailed already` }
    const fault = evidenceFault(evidence, committee, this.#isSigned)
    return fault === null ? { offender } : { fault }
  }
}

/** Writes the validators jailed by evidence into the contract, after the last transaction of block `number`: the state holds it. */
export const jailOffenders = (journal: Journal, offenders: readonly Hex[], number: number): void => {
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
