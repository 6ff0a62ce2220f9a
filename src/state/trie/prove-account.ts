import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { STATE_LIMITS } from '../../config/limits/storage.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import type { PackedBatch } from '../batch.ts'
import { collectRollback, packRollback } from '../history/rollback.ts'
import { stateMetaAt } from '../history/stored-state.ts'
import { type StateMeta, stateRootAt } from '../state-meta.ts'
import type { TrieService } from './trie-service.ts'
import type { StateProof } from './types.ts'

/** The head may move while old values are collected; then the trie has dropped the root they start from. */
const ATTEMPTS = 3

/** Calls `work` with a snapshot of the state after block `number`, again while the trie dropped its root. Throws MISSING_STATE. */
const withStateSnapshot = async <T>(
  store: Store,
  number: number,
  work: (meta: StateMeta, snapshot: Snapshot) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    await using snapshot = store.snapshot()
    try {
      return await work(await stateMetaAt(store, number, snapshot), snapshot)
    } catch (error) {
      if (attempt === ATTEMPTS || !isCoded(error) || error.code !== 'TRIE_UNKNOWN_ROOT') throw error
    }
  }
}

interface ProveRequest {
  readonly number: number
  readonly address: Hex
  /** 32-byte slots. */
  readonly slots: readonly Hex[]
}

/** Throws MISSING_STATE, PROOF_TOO_DEEP and the errors of the trie. */
export const proveAt = (store: Store, trie: TrieService, request: ProveRequest): Promise<StateProof> =>
  withStateSnapshot(store, request.number, (meta, snapshot) => proveIn(store, trie, request, meta, snapshot))

const proveIn = async (
  store: Store,
  trie: TrieService,
  { number, address, slots }: ProveRequest,
  meta: StateMeta,
  snapshot: Snapshot,
): Promise<StateProof> => {
  const rollback = await rollbackTo(store, number, meta, snapshot)
  const proof = await trie.prove({ root: meta.root, address, slots, ...rollback })
  const expected = rollback === undefined ? meta.root : await stateRootAt(store, number, snapshot)
  assert(proof.root === expected, 'old values lead back to the old root')
  return proof
}

/** Returns the old values that lead from the head back to block `number`; undefined: it is the head. */
const rollbackTo = async (store: Store, number: number, meta: StateMeta, snapshot: Snapshot) => {
  if (number === meta.number) return undefined
  const limit = STATE_LIMITS.proofRollbackEntries
  const changed = await collectRollback(store, number, meta.number, limit, snapshot)
  if (changed === undefined) throw new CodedError({ code: 'PROOF_TOO_DEEP', limit })
  return { rollback: await packRollback(changed) }
}

/** Copied, since a batch is consumed by the call that gets it. */
const copyOf = (batch: PackedBatch): PackedBatch => ({ ...batch, buffer: batch.buffer.slice(0) })

/** State roots of uncommitted blocks, in order after block `number`. Throws MISSING_STATE, PROOF_TOO_DEEP, errors of the trie. */
export const previewRoots = (
  store: Store,
  trie: TrieService,
  number: number,
  batches: readonly PackedBatch[],
): Promise<readonly Hex[]> =>
  withStateSnapshot(store, number, async (meta, snapshot) => {
    const rollback = await rollbackTo(store, number, meta, snapshot)
    return trie.preview({ root: meta.root, batches: batches.map(copyOf), ...rollback })
  })
