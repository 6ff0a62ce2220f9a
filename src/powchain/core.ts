import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { ChainParams } from '../config/networks.ts'
import { encodeProofHeader, type ProofHeader, type ProofTemplate, proofHeaderId } from '../primitives/proof-header.ts'
import {
  anchorsFor,
  earliestAnchor,
  extendProofState,
  MAX_PROOF_HEADERS_PER_BLOCK,
  nextProofTarget,
  type ProofState,
} from '../rules/proof/proof-header.ts'
import { proofVersionAt } from '../rules/proof/proof-target.ts'

/** Longest chain of pending headers above the final tip. */
export const MAX_PENDING_DEPTH = PROOF_CHAIN_LIMITS.pendingDepth
/** Cap on pending headers. */
const MAX_PENDING = 256
/** Main blocks after which a first-seen child of the final tip that no block included loses its precedence. */
const FIRST_SEEN_BLOCKS = 10
/** A validator does not vote for a proposal that leaves out a header it has known for longer than this, doubled each round. */
export const OMISSION_MS = 1_500
/** From this round on a proposal may leave out any header: views of a partitioned committee differ. */
const OMISSION_ROUNDS = 3

/** A verified header that no committed main block includes yet. */
export interface PendingHeader {
  readonly id: Hex
  readonly header: ProofHeader
  /** Canonical RLP. */
  readonly bytes: Uint8Array
  /** State of the proof chain after it. */
  readonly state: ProofState
  /** Headers from the final tip to this one. */
  readonly depth: number
  readonly seenAtMs: number
  /** Main head when it arrived. */
  readonly seenAtNumber: number
}

export type Admission = 'added' | 'known' | 'orphan' | 'too deep' | 'full'

/** Final proof state and the main chain's head, on which the pending headers are based. */
interface FinalTip {
  readonly state: ProofState
  /** Number of the newest committed main block. */
  readonly headNumber: number
}

/** Tree of pending proof headers above the final tip: fork choice, next block's contents, vote rule (docs/design/proof-chain.md). Pure. */
export class PendingProofs {
  readonly #params: ChainParams
  /** By id, in order of arrival: a parent always precedes its children. */
  readonly #headers = new Map<Hex, PendingHeader>()
  #final: FinalTip

  constructor(params: ChainParams, final: FinalTip) {
    this.#params = params
    this.#final = final
  }

  get final(): FinalTip {
    return this.#final
  }

  get size(): number {
    return this.#headers.size
  }

  get(id: Hex): PendingHeader | undefined {
    return this.#headers.get(id)
  }

  /** State for validating a child of this parent; undefined when the parent is neither pending nor the final tip. */
  stateAfter(parentId: Hex): ProofState | undefined {
    return parentId === this.#final.state.tipId ? this.#final.state : this.#headers.get(parentId)?.state
  }

  /** Adds a header that was fully verified against `stateAfter` of its parent. */
  add(header: ProofHeader, nowMs: number): Admission {
    const id = proofHeaderId(header)
    if (this.#headers.has(id)) return 'known'
    const before = this.stateAfter(header.parentId)
    if (before === undefined) return 'orphan'
    const depth = header.height - this.#final.state.tipHeight
    if (depth > MAX_PENDING_DEPTH) return 'too deep'
    if (this.#headers.size >= MAX_PENDING) return 'full'
    this.#headers.set(id, {
      id,
      header,
      bytes: encodeProofHeader(header),
      state: extendProofState(this.#params, before, header, id),
      depth,
      seenAtMs: nowMs,
      seenAtNumber: this.#final.headNumber,
    })
    return 'added'
  }

  /** Handles a committed main block: headers that do not build on the new final tip, or whose anchors are too old, are dropped. */
  advance(final: FinalTip): void {
    this.#final = final
    const before = [...this.#headers.values()]
    this.#headers.clear()
    for (const pending of before) {
      if (!this.#isUsable(pending.header, final.headNumber + 1)) continue
      if (this.stateAfter(pending.header.parentId) === undefined) continue
      this.#headers.set(pending.id, { ...pending, depth: pending.header.height - final.state.tipHeight })
    }
  }

  /** Newest header of the preferred branch; undefined when nothing is pending. New work builds on it. */
  best(): PendingHeader | undefined {
    return this.branch().at(-1)
  }

  /** Headers that the main block `including` should carry, in order: the start of the preferred branch. */
  forBlock(including: number): readonly PendingHeader[] {
    const headers: PendingHeader[] = []
    for (const pending of this.branch()) {
      if (headers.length === MAX_PROOF_HEADERS_PER_BLOCK || !this.#isUsable(pending.header, including)) break
      headers.push(pending)
    }
    return headers
  }

  /** Header that forbids a vote for a fresh proposal of block `including` without it; undefined: none, or too late a round. */
  overdue(including: number, round: number, nowMs: number): PendingHeader | undefined {
    if (round >= OMISSION_ROUNDS) return undefined
    const known = nowMs - OMISSION_MS * 2 ** round
    return this.#children(this.#final.state.tipId).find(
      ({ header, seenAtMs }) => seenAtMs < known && this.#isUsable(header, including),
    )
  }

  /** Work on the preferred tip, anchored at the main head; undefined while the head is the tip's anchor, or at a branch's maximum length. */
  template(
    head: { readonly number: number; readonly hash: Hex },
    coinbase: Hex,
    extraNonce: Uint8Array,
  ): ProofTemplate | undefined {
    const best = this.best()
    const state = best?.state ?? this.#final.state
    if (coinbase === ZERO_ADDRESS || (best?.depth ?? 0) >= MAX_PENDING_DEPTH) return undefined
    if (head.number < earliestAnchor(state)) return undefined
    const height = state.tipHeight + 1
    return {
      version: proofVersionAt(this.#params, height),
      parentId: state.tipId,
      height,
      anchorNumber: head.number,
      anchorHash: head.hash,
      coinbase,
      target: nextProofTarget(this.#params, state, head.number),
      extraNonce,
    }
  }

  /** Preferred branch above the final tip: its first-seen child, then the most work (first-seen when equal). */
  branch(): readonly PendingHeader[] {
    const children = this.#children(this.#final.state.tipId)
    const [first] = children
    if (first === undefined) return []
    const isStale = this.#final.headNumber - first.seenAtNumber > FIRST_SEEN_BLOCKS
    return this.#heaviest(isStale ? children : [first])
  }

  /** Path to the heaviest leaf below one of these siblings. */
  #heaviest(siblings: readonly PendingHeader[]): readonly PendingHeader[] {
    let best: PendingHeader | undefined
    const roots = new Set(siblings.map(({ id }) => id))
    for (const pending of this.#headers.values()) {
      if (!roots.has(this.#rootOf(pending))) continue
      const heavier = best === undefined || pending.state.totalWork > best.state.totalWork
      if (heavier) best = pending
    }
    const path: PendingHeader[] = []
    for (let at = best; at !== undefined; at = this.#headers.get(at.header.parentId)) path.unshift(at)
    return path
  }

  /** The child of the final tip that a pending header descends from. */
  #rootOf(pending: PendingHeader): Hex {
    let at = pending
    for (;;) {
      const parent = this.#headers.get(at.header.parentId)
      if (parent === undefined) return at.id
      at = parent
    }
  }

  /** In order of arrival. */
  #children(parentId: Hex): readonly PendingHeader[] {
    return [...this.#headers.values()].filter(({ header }) => header.parentId === parentId)
  }

  #isUsable({ anchorNumber }: ProofHeader, including: number): boolean {
    const { oldest, newest } = anchorsFor(this.#params, including)
    return anchorNumber >= oldest && anchorNumber <= newest
  }
}
