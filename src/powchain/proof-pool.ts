import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { ChainParams } from '../config/networks.ts'
import type { Header } from '../primitives/header.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import { decodeProofHeader, type ProofHeader, type ProofTemplate, proofHeaderId } from '../primitives/proof-header.ts'
import {
  anchorsFor,
  anchorViewAbove,
  checkProofHeader,
  easiestTarget,
  type ProofState,
} from '../rules/proof/proof-header.ts'
import { checkLeastWork, checkProofSeal } from '../rules/proof/proof-work.ts'
import { type Admission, MAX_PENDING_DEPTH, type PendingHeader, PendingProofs } from './core.ts'
import { addEarly, type EarlyHeader } from './early-headers.ts'
import type { WorkVerifier } from './work-verifier.ts'

/** Committed main chain, as the proof chain uses it. */
export interface MainHead {
  readonly number: number
  readonly hash: Hex
  /** State of the proof chain after the head. */
  readonly proofState: ProofState
}

interface ProofPoolOptions {
  readonly params: ChainParams
  readonly head: MainHead
  /** Hash of a committed main block below the head. */
  readonly hashOf: (number: number) => Hex | undefined
  readonly verifier: WorkVerifier
}

/**
 * Outcome of a header that breaks no rule. `early`: its parent or its anchor is not known yet; it is kept and tried again with the next
 * block. `ahead`: it is early and too far from this node's tip to be judged, or its target is easier than any that can follow. `stale`: its
 * height is final. `busy`: too many are being verified, or one of the same peer; it is tried again when one of them is done.
 */
type ProofOutcome = Exclude<Admission, 'orphan'> | 'early' | 'ahead' | 'stale' | 'busy'

/** Pending proof headers of this node: checks those that come in, cheapest check first, and offers them to miners and proposers. */
export class ProofPool {
  readonly #options: ProofPoolOptions
  readonly #listeners = new Set<(added: PendingHeader) => void>()
  readonly #refusedListeners = new Set<(error: unknown, from: PeerId) => void>()
  readonly #resetListeners = new Set<() => void>()
  /** Headers that may become valid with a later main block, or wait for their verification, by id in order of arrival. */
  readonly #early = new Map<Hex, EarlyHeader>()
  #pending: PendingProofs
  #head: MainHead
  #verifying = 0
  /** Peers with a header in verification. */
  readonly #verified = new Set<PeerId>()

  constructor(options: ProofPoolOptions) {
    this.#options = options
    this.#head = options.head
    this.#pending = pendingOn(options.params, options.head)
  }

  get head(): MainHead {
    return this.#head
  }

  get size(): number {
    return this.#pending.size
  }

  get(id: Hex): PendingHeader | undefined {
    return this.#pending.get(id)
  }

  /** Preferred branch above the final tip, in order. */
  branch(): readonly PendingHeader[] {
    return this.#pending.branch()
  }

  /** Newest header of the preferred branch; undefined when nothing is pending. */
  best(): PendingHeader | undefined {
    return this.#pending.best()
  }

  onAdded(listener: (added: PendingHeader) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back when a header that was kept is found to break a rule. */
  onRefused(listener: (error: unknown, from: PeerId) => void): () => void {
    this.#refusedListeners.add(listener)
    return () => this.#refusedListeners.delete(listener)
  }

  /** Calls back after blocks were taken back: work anchored at them is over. */
  onReset(listener: () => void): () => void {
    this.#resetListeners.add(listener)
    return () => this.#resetListeners.delete(listener)
  }

  /** Returns true when the anchor is a block of the main chain. */
  isAnchored({ anchorNumber, anchorHash }: Pick<ProofTemplate, 'anchorNumber' | 'anchorHash'>): boolean {
    return anchorViewAbove(this.#head, this.#options.hashOf).hashOf(anchorNumber) === anchorHash
  }

  /** Returns true when the header carries nothing new: it is pending, or waits for its parent or anchor. */
  has(id: Hex): boolean {
    return this.#pending.get(id) !== undefined || this.#early.has(id)
  }

  /** Decodes and admits a header. Rejects with CodedError<ProofHeaderError | ProofHeaderMalformed> for a header that breaks a rule. */
  async submit(bytes: Uint8Array, nowMs: number, from?: PeerId): Promise<ProofOutcome> {
    return this.admit(decodeProofHeader(bytes), nowMs, from)
  }

  /** Admits a header of a peer, or of this node's miners. Rejects with CodedError<ProofHeaderError>. */
  async admit(header: ProofHeader, nowMs: number, from?: PeerId): Promise<ProofOutcome> {
    const id = proofHeaderId(header)
    if (this.#pending.get(id) !== undefined) return 'known'
    if (header.height <= this.#head.proofState.tipHeight) return 'stale'
    const { params } = this.#options
    const pending = this.#pending
    const before = pending.stateAfter(header.parentId)
    if (before === undefined || header.anchorNumber > this.#head.number) {
      checkLeastWork(params, header)
      return this.#isPlausible(header) ? this.#keepEarly(id, header, from) : 'ahead'
    }
    checkProofHeader(params, before, header, anchorViewAbove(this.#head, this.#options.hashOf))
    checkProofSeal(params.chainId, header)
    if (!this.#hasPlace(from)) {
      addEarly(this.#early, id, { header, from, isReady: true })
      return 'busy'
    }
    await this.#verify(header, nowMs, from)
    // Blocks were taken back meanwhile, its anchor perhaps among them.
    if (this.#pending !== pending) return this.admit(header, nowMs, from)
    return this.#add(id, header, nowMs, from)
  }

  /** Headers for the main block on the head, in order. */
  forBlock(including: number): readonly PendingHeader[] {
    return this.#pending.forBlock(including)
  }

  /** Vote rule: returns the header that a proposal lacks. Not for a block prepared in an earlier round and proposed again. */
  omittedBy(
    { header, proofHeaders }: { readonly header: Pick<Header, 'number'>; readonly proofHeaders: readonly Uint8Array[] },
    { round, fresh }: { readonly round: number; readonly fresh: boolean },
    nowMs: number,
  ): PendingHeader | undefined {
    if (!fresh || proofHeaders.length > 0) return undefined
    return this.#pending.overdue(header.number, round, nowMs)
  }

  /** Returns work on the preferred tip; undefined while there is none. */
  template(coinbase: Hex, extraNonce: Uint8Array): ProofTemplate | undefined {
    return this.#pending.template(this.#head, coinbase, extraNonce)
  }

  /** Handles a committed main block. Headers that waited for it are tried again. */
  onBlock(head: MainHead, nowMs: number): void {
    this.#head = head
    this.#pending.advance({ state: head.proofState, headNumber: head.number })
    if (this.#early.size > 0) this.#retry(nowMs)
  }

  /** Handles a revert of main blocks: anchors changed, so all pending headers are dropped. */
  reset(head: MainHead): void {
    this.#head = head
    this.#early.clear()
    this.#pending = pendingOn(this.#options.params, head)
    for (const listener of this.#resetListeners) listener()
  }

  /** Work was checked against the claimed target; here the target against what may follow the tip. */
  #isPlausible(header: ProofHeader): boolean {
    const { params } = this.#options
    const { number, proofState } = this.#head
    const { oldest } = anchorsFor(params, number + 1)
    const newest = number + params.proofChain.maxAnchorAgeBlocks
    if (header.anchorNumber < oldest || header.anchorNumber > newest) return false
    if (header.height > proofState.tipHeight + MAX_PENDING_DEPTH) return false
    return header.target <= easiestTarget(params, proofState, header)
  }

  #hasPlace(from: PeerId | undefined): boolean {
    return this.#verifying < PROOF_CHAIN_LIMITS.verifying && (from === undefined || !this.#verified.has(from))
  }

  async #verify(header: ProofHeader, nowMs: number, from: PeerId | undefined): Promise<void> {
    this.#verifying++
    if (from !== undefined) this.#verified.add(from)
    try {
      await this.#options.verifier.verify(header)
    } catch (error) {
      // What else it sent is not worth a hash.
      if (isCoded(error) && from !== undefined)
        for (const [id, early] of this.#early) if (early.from === from) this.#early.delete(id)
      throw error
    } finally {
      this.#verifying--
      if (from !== undefined) this.#verified.delete(from)
      for (const [id, early] of this.#early)
        if (early.isReady && this.#hasPlace(early.from)) this.#tryAgain(id, early, nowMs)
    }
  }

  #keepEarly(id: Hex, header: ProofHeader, from: PeerId | undefined): ProofOutcome {
    addEarly(this.#early, id, { header, from, isReady: false })
    return 'early'
  }

  #add(id: Hex, header: ProofHeader, nowMs: number, from: PeerId | undefined): ProofOutcome {
    const outcome = this.#pending.add(header, nowMs)
    if (outcome === 'orphan') return this.#keepEarly(id, header, from)
    const added = outcome === 'added' ? this.#pending.get(id) : undefined
    if (added === undefined) return outcome
    for (const listener of this.#listeners) listener(added)
    this.#retry(nowMs, id)
    return outcome
  }

  /** Tries early headers again: all of them, or the children of one parent. */
  #retry(nowMs: number, parentId?: Hex): void {
    const waiting = [...this.#early].filter(([, { header }]) => parentId === undefined || header.parentId === parentId)
    for (const [id, early] of waiting) this.#tryAgain(id, early, nowMs)
  }

  #tryAgain(id: Hex, { header, from }: EarlyHeader, nowMs: number): void {
    this.#early.delete(id)
    // Invalid after all.
    this.admit(header, nowMs, from).catch((error: unknown) => {
      if (from !== undefined) for (const listener of this.#refusedListeners) listener(error, from)
    })
  }
}

const pendingOn = (params: ChainParams, { number, proofState }: MainHead): PendingProofs =>
  new PendingProofs(params, { state: proofState, headNumber: number })
