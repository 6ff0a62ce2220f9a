import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TrieService } from '../../src/state/trie/trie-service.ts'
import { verifyState } from '../../src/state/world/verify-state.ts'
import { WorldState } from '../../src/state/world/world-state.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import { numberKey } from '../../src/storage/keys.ts'
import { SEED } from '../support/seed.ts'
import { fakeHeader } from '../unit/state/fake-header.ts'
import { type BlockActions, blocks, run } from '../unit/state/random-blocks.ts'
import { temporaryStore } from '../unit/storage/temp-store.ts'

/** Roots of blocks on a state with so much memory. */
const rootsWith = async (memory: { trie: number; state: number }, all: readonly BlockActions[]): Promise<Hex[]> => {
  const store = await temporaryStore({ memoryBytes: memory.trie })
  const trie = await TrieService.open({ worker: false })
  const world = await WorldState.open({ store, trie, logger: silentLogger, stateHistory: 4, memory })
  const roots: Hex[] = []
  for (const [number, actions] of all.entries()) {
    const journal = world.journal()
    run(journal, actions)
    const update = await world.computeUpdate(journal.changes(), world.root)
    const batch = store.batch().put(BUCKETS.header, numberKey(number), fakeHeader(update.root))
    await world.write(batch, number, update)
    await batch.write()
    await world.committed(number, update)
    roots.push(update.root)
  }
  await world.close()
  expect((await verifyState(store)).problems).toEqual([])
  return roots
}

test('a state with next to no memory has the same roots', async () => {
  const ample = { trie: 2 ** 26, state: 2 ** 26 }
  // Room for one account, one slot and no node.
  const scarce = { trie: 1_024, state: 1_100 }
  await fc.assert(
    fc.asyncProperty(blocks(12), async all => {
      expect(await rootsWith(scarce, all)).toEqual(await rootsWith(ample, all))
    }),
    { seed: SEED, numRuns: 15 },
  )
})
