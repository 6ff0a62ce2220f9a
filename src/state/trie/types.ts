import type { Hex } from '../../util/bytes.ts'

/** What the account trie stores of an account besides its storage root. */
export interface TrieAccount {
  readonly nonce: number | bigint
  readonly balance: bigint
  /** EMPTY_CODE_HASH without code. */
  readonly codeHash: Hex
}

/**
 * Changes for the trie, packed by `BatchPacker` into one transferable buffer. A batch is used up by the call it is
 * given to: the buffer moves to the other thread.
 */
export interface PackedBatch {
  readonly buffer: ArrayBuffer
  /** Keys as given, in order, of the accounts whose storage the batch touches. */
  readonly storageOf: readonly Hex[]
  /** Accounts and slots in it. */
  readonly entries: number
}

export interface ApplyResult {
  readonly root: Hex
  /**
   * New storage root by account, keyed as the batch named it (address or hash), for the accounts whose storage the batch
   * touched; every other account keeps the storage root it had.
   */
  readonly storageRoots: ReadonlyMap<Hex, Hex>
}

export interface StorageProof {
  /** The slot as asked. */
  readonly slot: Hex
  readonly value: bigint
  /** RLP nodes from the storage root down; empty for an empty trie. A shortened path proves absence. */
  readonly nodes: readonly Uint8Array[]
}

/** EIP-1186 in bytes. */
export interface TrieProof {
  /** The state root the proof stands on: the caller compares it with the header's. */
  readonly root: Hex
  readonly nodes: readonly Uint8Array[]
  /** undefined: the nodes prove that there is no such account. */
  readonly account:
    | { readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Hex; readonly storageRoot: Hex }
    | undefined
  readonly storage: readonly StorageProof[]
}

export interface ProofRequest {
  /** A root the trie can stand on: the base or one of the layers still held. */
  readonly root: Hex
  readonly address: Hex
  /** 32-byte slots. */
  readonly slots: readonly Hex[]
  /** Old values that lead from `root` to the older state asked about; applied for the proof only. */
  readonly rollback?: PackedBatch
}

export interface PreviewRequest {
  /** A root the trie can stand on, as for a proof. */
  readonly root: Hex
  /** Changes of one block after the other. */
  readonly batches: readonly PackedBatch[]
  /** Old values that lead from `root` to the older state the first batch stands on. */
  readonly rollback?: PackedBatch
}

export interface TrieStats {
  readonly accounts: number
  /** Bytes of nodes in use, bytes of freed nodes waiting for reuse, and the whole memory of the trie. */
  readonly usedBytes: number
  readonly freeBytes: number
  readonly memoryBytes: number
  /** Undo layers held. */
  readonly layers: number
}

export type TrieError =
  /** The named root is neither the base nor a layer still held. */
  | { readonly code: 'TRIE_UNKNOWN_ROOT'; readonly asked: Hex; readonly standing: Hex }
  /** The batch is malformed: a key twice, storage for an account that is not there, a wrong size. Nothing was changed. */
  | { readonly code: 'TRIE_BAD_BATCH'; readonly reason: string }
  /** The worker died; the trie is gone and must be opened and loaded again. */
  | { readonly code: 'TRIE_FAILED'; readonly reason: string }
  /** More proofs and previews wait than may, or this one waited for too long; the caller may try later. */
  | { readonly code: 'TRIE_BUSY' }
  | { readonly code: 'TRIE_CLOSED' }
