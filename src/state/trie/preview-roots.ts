import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { STATE_LIMITS } from '../../config/limits/storage.ts'
import type { Store } from '../../storage/store.ts'
import { collectRollback, packRollback } from '../history/rollback.ts'
import { withStateSnapshot } from './state-snapshot.ts'
import type { TrieService } from './trie-service.ts'
import type { PackedBatch } from './types.ts'

/** Copied, since a batch is consumed by the call that gets it. */
const copyOf = (batch: PackedBatch): PackedBatch => ({ ...batch, buffer: batch.buffer.slice(0) })

/**
 * Returns the state roots of blocks that are never committed, in order on the state after block `number`. Throws MISSING_STATE,
 * PROOF_TOO_DEEP and the errors of the trie.
 */
export const previewRoots = (
  store: Store,
  trie: TrieService,
  number: number,
  batches: readonly PackedBatch[],
): Promise<readonly Hex[]> =>
  withStateSnapshot(store, number, async (meta, snapshot) => {
    const request = { root: meta.root, batches: batches.map(copyOf) }
    if (number === meta.number) return trie.preview(request)
    const limit = STATE_LIMITS.proofRollbackEntries
    const changed = await collectRollback(store, number, meta.number, limit, snapshot)
    if (changed === undefined) throw new CodedError({ code: 'PROOF_TOO_DEEP', limit })
    return trie.preview({ ...request, rollback: await packRollback(changed) })
  })
