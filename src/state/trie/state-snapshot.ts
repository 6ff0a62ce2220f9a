import { isCoded } from '@tandem/base/errors.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { stateMetaAt } from '../history/stored-state.ts'
import type { StateMeta } from '../state-meta.ts'

/** The head may move while old values are collected; then the trie has dropped the root they start from. */
const ATTEMPTS = 3

/**
 * Calls `work` with a snapshot that can read the state after block `number`, again with a new one while the trie has dropped its
 * root. Throws MISSING_STATE and the errors of `work`.
 */
export const withStateSnapshot = async <T>(
  store: Store,
  number: number,
  work: (meta: StateMeta, snapshot: Snapshot) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    const snapshot = store.snapshot()
    try {
      return await work(await stateMetaAt(store, number, snapshot), snapshot)
    } catch (error) {
      if (attempt === ATTEMPTS || !isCoded(error) || error.code !== 'TRIE_UNKNOWN_ROOT') throw error
    } finally {
      await snapshot.close()
    }
  }
}
