import type { Hex } from '../../util/bytes.ts'
import type { AccountProof, ApplyResult, PackedBatch, ProofRequest, TrieStats } from './types.ts'

export interface TrieServiceOptions {
  /** Undo layers kept beneath the newest; older ones can no longer be left. LIMITS.state.trieLayers by default. */
  readonly layers?: number
  /** false runs the trie in the calling thread: for tests and small private states. */
  readonly worker?: boolean
  /** Called once when the worker dies; every call then fails with TRIE_FAILED. */
  readonly onFailure?: (error: Error) => void
}

/**
 * The account trie and all storage tries, in a worker thread. Calls are executed in the order made. Every rejection is a
 * CodedError<TrieError>; after TRIE_UNKNOWN_ROOT and TRIE_BAD_BATCH the trie stands as before.
 */
export interface TrieServiceApi {
  /** The root the trie stands on after the last finished call; EMPTY_ROOT when new. */
  readonly root: Hex
  /** Fills the trie at start: like `apply` on the standing root but without undo and without answer per account. Answers the root so far. */
  load(batch: PackedBatch): Promise<Hex>
  /**
   * Puts a block's changes on `parentRoot`. When the trie stands on a layer above that root, the layers above it are undone
   * first; a root that is not held is TRIE_UNKNOWN_ROOT.
   */
  apply(parentRoot: Hex, batch: PackedBatch): Promise<ApplyResult>
  /** `root` is final: nothing below it will be asked for again. Undo information beneath it is dropped. */
  commit(root: Hex): Promise<void>
  prove(request: ProofRequest): Promise<AccountProof>
  stats(): Promise<TrieStats>
  close(): Promise<void>
}
// export class TrieService implements TrieServiceApi { static open(options?: TrieServiceOptions): Promise<TrieService> }
