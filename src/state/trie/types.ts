import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { PackedBatch } from '../batch.ts'

export interface ApplyResult {
  readonly root: Hex
  /** New storage root by account key of the batch (address or hash), of accounts whose storage it touched. */
  readonly storageRoots: ReadonlyMap<Hex, Hex>
}

/** EIP-1186; without an account `nonce` and `balance` are zero and the hashes those of empty data. */
export interface StateProof {
  /** State root of the proof: the caller compares it with the header's. */
  readonly root: Hex
  readonly address: Hex
  /** RLP nodes from the state root down. */
  readonly accountProof: readonly Uint8Array[]
  readonly balance: bigint
  readonly nonce: Nonce
  readonly codeHash: Hex
  readonly storageHash: Hex
  /** `proof`: RLP nodes from the storage root down; empty for an empty trie. A shortened path proves absence. */
  readonly storageProof: readonly { readonly key: Hex; readonly value: bigint; readonly proof: readonly Uint8Array[] }[]
}

export interface ProofRequest {
  /** Root held by the trie: the base or one of the layers. */
  readonly root: Hex
  readonly address: Hex
  /** 32-byte slots. */
  readonly slots: readonly Hex[]
  /** Old values that lead from `root` to the requested older state; applied for the proof only. */
  readonly rollback?: PackedBatch
}

export interface PreviewRequest {
  /** Root held by the trie, as for a proof. */
  readonly root: Hex
  /** Changes of consecutive blocks. */
  readonly batches: readonly PackedBatch[]
  /** Old values that lead from `root` to the older state on which the first batch is applied. */
  readonly rollback?: PackedBatch
}

export interface TrieStats {
  readonly accounts: number
  /** Bytes of nodes in use, bytes of freed nodes waiting for reuse, and the whole memory of the trie. */
  readonly usedBytes: number
  readonly freeBytes: number
  readonly memoryBytes: number
  /** Number of undo layers held. */
  readonly layers: number
}

export type TrieError =
  /** The requested root is neither the base nor a layer still held. */
  | { readonly code: 'TRIE_UNKNOWN_ROOT'; readonly asked: Hex; readonly current: Hex }
  /** The batch is malformed: a duplicate key, storage for a missing account, a wrong size. Nothing was changed. */
  | { readonly code: 'TRIE_BAD_BATCH'; readonly reason: string }
  /** The worker died; the trie must be opened and loaded again. */
  | { readonly code: 'TRIE_FAILED'; readonly reason: string }
  /** Too many proofs and previews are queued, or this one waited too long; the caller may try later. */
  | { readonly code: 'TRIE_BUSY' }
  | { readonly code: 'TRIE_CLOSED' }
