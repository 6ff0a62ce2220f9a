import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { Lru } from '@tandem/base/lru.ts'
import { PROOF_CHAIN_LIMITS } from '../../config/limits/chain.ts'
import type { ChainParams } from '../../config/networks.ts'
import { PROOF_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeProofHeader, type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { readWholeList } from '../../primitives/rlp/rlp-cursor.ts'
import { firstProofState, type ProofState } from '../../rules/proof/proof-header.ts'
import type { IncludedProof } from '../../rules/proof/proof-inclusion.ts'
import { decodeProofState, encodeProofState } from '../../rules/proof/proof-state.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'

/** Final proof header with its including block. */
interface StoredProof {
  readonly header: ProofHeader
  /** Main block that made it final. */
  readonly includedIn: number
}

/** Final proof headers by id and height, and the state after each: that after a main block is the one of its extra data's tip. */
export class ProofRows {
  readonly #params: ChainParams
  readonly #store: Store
  readonly #states = new Lru<Hex, ProofState>(PROOF_CHAIN_LIMITS.cachedStates)

  constructor(params: ChainParams, store: Store) {
    this.#params = params
    this.#store = store
  }

  /** State of the proof chain at a final tip; zero means no header. */
  stateAt(tipId: Hex): ProofState {
    return getOrMake(this.#states, tipId, () =>
      tipId === ZERO_HASH ? firstProofState(this.#params) : this.#read(tipId),
    )
  }

  /** Returns the coinbases of the newest headers up to a final tip; undefined where the node has not all of them, as below a snapshot. */
  coinbasesAt(tipId: Hex): readonly Hex[] | undefined {
    if (tipId === ZERO_HASH || this.#store.getSync(BUCKETS.proofState, hexToBytes(tipId)) !== undefined)
      return this.stateAt(tipId).coinbases
    const tip = this.byId(tipId)
    if (tip === undefined) return undefined
    const coinbases: Hex[] = []
    const { height } = tip.header
    for (let at = Math.max(1, height - PROOF_BOUNDS.paidHeaders + 1); at <= height; at++) {
      const stored = this.byHeight(at)
      if (stored === undefined) return undefined
      coinbases.push(stored.header.coinbase)
    }
    return coinbases
  }

  byId(id: Hex): StoredProof | undefined {
    const row = this.#store.getSync(BUCKETS.proofHeader, hexToBytes(id))
    return row && decodeProofRow(row)
  }

  byHeight(height: number): StoredProof | undefined {
    const id = this.#store.getSync(BUCKETS.proofHeight, numberKey(height))
    return id && this.byId(bytesToHex(id))
  }

  #read(tipId: Hex): ProofState {
    const row = this.#store.getSync(BUCKETS.proofState, hexToBytes(tipId))
    assert(row !== undefined, 'a committed tip has its state')
    return decodeProofState(row)
  }
}

/** Adds the rows of the headers that a block makes final to the batch. */
export const putProofs = (batch: Batch, number: number, included: readonly IncludedProof[]): void => {
  for (const { header, bytes, state } of included) {
    putHeader(batch, number, header, bytes)
    putProofState(batch, state)
  }
}

/** Adds the rows of headers in blocks before a snapshot to the batch; their states are not needed. */
export const putPastProofs = (batch: Batch, number: number, encoded: readonly Uint8Array[]): void => {
  for (const bytes of encoded) putHeader(batch, number, decodeProofHeader(bytes), bytes)
}

export const putProofState = (batch: Batch, state: ProofState): void => {
  batch.put(BUCKETS.proofState, hexToBytes(state.tipId), encodeProofState(state))
}

/** Adds the removal of the rows of a block's headers to the batch. */
export const removeProofs = (batch: Batch, encoded: readonly Uint8Array[]): void => {
  for (const bytes of encoded) {
    const header = decodeProofHeader(bytes)
    const id = hexToBytes(proofHeaderId(header))
    batch.del(BUCKETS.proofHeader, id)
    batch.del(BUCKETS.proofState, id)
    batch.del(BUCKETS.proofHeight, numberKey(header.height))
  }
}

const putHeader = (batch: Batch, number: number, header: ProofHeader, bytes: Uint8Array): void => {
  const id = hexToBytes(proofHeaderId(header))
  batch.put(BUCKETS.proofHeader, id, encodeRlp([bytes, uintItem(number)]))
  batch.put(BUCKETS.proofHeight, numberKey(header.height), id)
}

/** Decodes a row: RLP of [encoded header, including block]. */
export const decodeProofRow = (row: Uint8Array): StoredProof =>
  readWholeList(row, cursor => ({ header: decodeProofHeader(cursor.bytes()), includedIn: cursor.safeUint() }))
