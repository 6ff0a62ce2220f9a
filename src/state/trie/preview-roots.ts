import { LIMITS } from '../../config/limits.ts'
import type { Store } from '../../storage/store.ts'
import type { Hex } from '../../util/bytes.ts'
import { CodedError, isCoded } from '../../util/errors.ts'
import { collectRollback, packRollback } from '../history/rollback.ts'
import { stateMetaAt } from '../history/stored-state.ts'
import type { TrieService } from './trie-service.ts'
import type { PackedBatch } from './types.ts'

/** The head may move while old values are collected; then the trie has let go of the root they lead from. */
const ATTEMPTS = 3

/** A copy: a batch is used up by the call it is given to. */
const copyOf = (batch: PackedBatch): PackedBatch => ({ ...batch, buffer: batch.buffer.slice(0) })

/**
 * State roots after blocks that nobody will commit, put one on the other on the state after block `numberField`. Throws MISSING_STATE,
 * PROOF_TOO_DEEP and what the trie throws.
 */
export const previewRoots = async (
  store: Store,
  trie: TrieService,
  number: number,
  batches: readonly PackedBatch[],
): Promise<readonly Hex[]> => {
  for (let attempt = 1; ; attempt++) {
    const snapshot = store.snapshot()
    try {
      const meta = await stateMetaAt(store, number, snapshot)
      const request = { root: meta.root, batches: batches.map(copyOf) }
      if (number === meta.number) return await trie.preview(request)
      const limit = LIMITS.state.proofRollbackEntries
      const changed = await collectRollback(store, number, meta.number, limit, snapshot)
      if (changed === undefined) throw new CodedError({ code: 'PROOF_TOO_DEEP', limit })
      return await trie.preview({ ...request, rollback: await packRollback(changed) })
    } catch (error) {
      if (attempt === ATTEMPTS || !isCoded(error) || error.code !== 'TRIE_UNKNOWN_ROOT') throw error
    } finally {
      await snapshot.close()
    }
  }
}
