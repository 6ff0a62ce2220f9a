import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTrieMark } from '../../src/state/trie/trie-rows.ts'
import { TrieService } from '../../src/state/trie/trie-service.ts'
import { verifyState } from '../../src/state/world/verify-state.ts'
import { WorldState } from '../../src/state/world/world-state.ts'
import type { Batch } from '../../src/storage/batch.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import { numberKey } from '../../src/storage/keys.ts'
import { Store } from '../../src/storage/store.ts'
import { fakeHeader } from '../unit/state/fake-header.ts'
import { type BlockActions, blocks, run } from '../unit/state/random-blocks.ts'
import { temporaryDirectory } from '../unit/storage/temp-store.ts'

type Row = readonly [bucket: number, key: Uint8Array, value: Uint8Array | undefined]
/** One atomic write: of a block, or of the rows of the trie. */
interface Write {
  readonly rows: readonly Row[]
  readonly isFlush: boolean
}

/** Store whose writes are recorded, in order. */
const recorded = async (path: string): Promise<{ store: Store; writes: Write[] }> => {
  const store = await Store.open(path)
  const writes: Write[] = []
  const original = store.batch.bind(store)
  store.batch = () => {
    const batch = original()
    const rows: Row[] = []
    const wrapped = {
      put: (bucket: number, key: Uint8Array, value: Uint8Array) => {
        rows.push([bucket, Uint8Array.from(key), Uint8Array.from(value)])
        batch.put(bucket, key, value)
        return wrapped
      },
      del: (bucket: number, key: Uint8Array) => {
        rows.push([bucket, Uint8Array.from(key), undefined])
        batch.del(bucket, key)
        return wrapped
      },
      write: (options?: { readonly sync: boolean }) => {
        writes.push({ rows, isFlush: !rows.some(([bucket]) => bucket === BUCKETS.header) })
        return batch.write(options)
      },
      [Symbol.dispose]: () => batch[Symbol.dispose](),
    }
    return wrapped as unknown as Batch
  }
  return { store, writes }
}

const openWorld = async (store: Store, stateHistory: number): Promise<WorldState> =>
  WorldState.open({ store, trie: await TrieService.open({ worker: false }), logger: silentLogger, stateHistory })

const commit = async (store: Store, world: WorldState, actions: BlockActions): Promise<Hex> => {
  const journal = world.journal()
  run(journal, actions)
  const number = world.number + 1
  const update = await world.computeUpdate(journal.changes(), world.root)
  const batch = store.batch()
  batch.put(BUCKETS.header, numberKey(number), fakeHeader(update.root))
  await world.write(batch, number, update)
  await batch.write()
  await world.committed(number, update)
  return update.root
}

/** The same writes with each flush so many blocks later, as when the trie's thread is slow. */
const delayed = (writes: readonly Write[], blocks: number): Write[] => {
  const result: Write[] = []
  const waiting: { readonly write: Write; left: number }[] = []
  for (const write of writes) {
    if (write.isFlush) {
      // The one before is always written first.
      for (const { write: earlier } of waiting.splice(0)) result.push(earlier)
      waiting.push({ write, left: blocks })
      continue
    }
    result.push(write)
    for (const entry of waiting) entry.left--
    while (waiting[0] !== undefined && waiting[0].left <= 0) result.push(waiting.shift()!.write)
  }
  return [...result, ...waiting.map(({ write }) => write)]
}

const storeOf = async (writes: readonly Write[]): Promise<Store> => {
  const store = await Store.open(await temporaryDirectory())
  const batch = store.batch()
  for (const [bucket, key, value] of writes.flatMap(({ rows }) => rows)) {
    if (value === undefined) batch.del(bucket, key)
    else batch.put(bucket, key, value)
  }
  await batch.write({ sync: false })
  return store
}

/** Checks what a start finds after a kill at that place, and that the chain goes on from it. */
const expectStart = async (writes: readonly Write[], roots: readonly Hex[], next: BlockActions, history: number) => {
  const store = await storeOf(writes)
  const head = writes.filter(({ isFlush }) => !isFlush).length - 1
  const world = await openWorld(store, history)
  expect([world.number, world.root]).toEqual([head, roots[head] ?? world.root])
  const root = await commit(store, world, next)
  await world.close()
  expect((await readTrieMark(store))?.root).toBe(root)
  expect((await verifyState(store)).problems).toEqual([])
  const again = await openWorld(store, history)
  expect([again.number, again.root]).toEqual([head + 1, root])
  await again.close()
  await store.close()
}

test('a kill between any two writes loses no block and leaves the trie of the head', { timeout: 240_000 }, async () => {
  const property = fc.asyncProperty(
    blocks(9),
    fc.constantFrom(1, 4, 8, 20),
    fc.nat(3),
    async ([first, ...rest], history, delay) => {
      const { store, writes } = await recorded(await temporaryDirectory())
      const world = await openWorld(store, history)
      // The start before genesis has cleared its tables.
      writes.length = 0
      const roots: Hex[] = []
      for (const actions of [first!, ...rest]) roots.push(await commit(store, world, actions))
      await world.close()
      await store.close()
      const order = delayed(writes, delay)
      for (let end = 1; end <= order.length; end++) await expectStart(order.slice(0, end), roots, first!, history)
    },
  )
  await fc.assert(property, { seed: Number(process.env['SEED'] ?? 36), numRuns: 12, endOnFailure: true })
})
