import { readdir } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { BUCKETS } from '../../src/storage/buckets.ts'
import type { Range, Store } from '../../src/storage/store.ts'
import { temporaryStore } from '../unit/storage/temp-store.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

/** Short keys of few values, so that bounds are hit, prefixes shared and rows replaced. */
const key = fc.uint8Array({ maxLength: 3, max: 3 }).map(bytes => Uint8Array.from(bytes))
/** Some so long that a piece ends by its bytes. */
const value = fc.oneof(
  { weight: 8, arbitrary: fc.nat(200) },
  { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 150_000 }) },
)
const rows = fc.array(fc.tuple(key, value), { maxLength: 60 })
const range: fc.Arbitrary<Range> = fc
  .record({ gte: key, gt: key, lt: key, lte: key, prefix: key }, { requiredKeys: [] })
  .chain(({ gt, lte, ...bounds }) =>
    fc.record({
      bounds: fc.constantFrom(
        bounds,
        { ...(gt && { gt }), ...(lte && { lte }) },
        { ...(gt && { gt }), ...(bounds.lt && { lt: bounds.lt }) },
      ),
      reverse: fc.boolean(),
      limit: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 20 })),
    }),
  )
  .map(({ bounds, ...options }) => ({ ...bounds, ...options }))

type Row = readonly [Uint8Array, number]
const compare = ([a]: Row, [b]: Row) => Buffer.compare(a, b)

const inRange = (key: Uint8Array, { gte, gt, lt, lte, prefix }: Range): boolean => {
  if (prefix !== undefined) return Buffer.compare(key.subarray(0, prefix.byteLength), prefix) === 0
  const isAbove = gt ? Buffer.compare(key, gt) > 0 : gte === undefined || Buffer.compare(key, gte) >= 0
  return isAbove && (lte ? Buffer.compare(key, lte) <= 0 : lt === undefined || Buffer.compare(key, lt) < 0)
}

const expectedOf = (model: ReadonlyMap<string, number>, range: Range): Row[] => {
  const all = [...model].map(([text, length]): Row => [Buffer.from(text, 'hex'), length])
  const found = all.filter(([key]) => inRange(key, range)).sort(compare)
  if (range.reverse) found.reverse()
  return range.limit === -1 ? found : found.slice(0, range.limit)
}

const write = async (store: Store, model: Map<string, number>, rows: readonly Row[]): Promise<void> => {
  const batch = store.batch()
  for (const [key, length] of rows) {
    batch.put(BUCKETS.code, key, new Uint8Array(length))
    model.set(Buffer.from(key).toString('hex'), length)
  }
  await batch.write({ sync: false })
}

test('a scan in pieces of any size is the range as it was at its start, whatever is written meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, range, fc.integer({ min: 1, max: 8 }), async (before, meanwhile, range, size) => {
      const store = await temporaryStore()
      const model = new Map<string, number>()
      await write(store, model, before)
      // Its neighbours hold rows as well.
      await store
        .batch()
        .put(BUCKETS.code - 1, Uint8Array.of(255), Uint8Array.of(1))
        .put(BUCKETS.code + 1, Uint8Array.of(), Uint8Array.of(1))
        .write({ sync: false })
      const expected = expectedOf(model, range)
      const found: Row[] = []
      for await (const piece of store.chunks(BUCKETS.code, range, size)) {
        expect(piece.length).toBeLessThanOrEqual(size)
        found.push(...piece.map(([key, row]): Row => [key, row.byteLength]))
        if (found.length === piece.length) await write(store, model, meanwhile)
      }
      const comparable = (rows: readonly Row[]) =>
        rows.map(([key, length]) => [Buffer.from(key).toString('hex'), length])
      expect(comparable(found)).toEqual(comparable(expected))
      await store.close()
    }),
    { seed, numRuns: 300 },
  )
})

test('a scan that waits between two pieces holds no table that compaction has replaced', async () => {
  const store = await temporaryStore({ writeBufferBytes: 64 * 1024 })
  // A second handle of the same database, for what only LevelDB itself can be told.
  const level = new ClassicLevel(store.path, { multithreading: true })
  await level.open()
  onTestFinished(() => level.close())
  const fill = async (byte: number) => {
    for (let i = 0; i < 200; i++) {
      const batch = store.batch()
      batch.put(BUCKETS.code, Uint8Array.of(i), Buffer.alloc(4_096, `${byte} ${i}`))
      await batch.write({ sync: false })
    }
    await level.compactRange('\u0000', '\uffff')
  }
  const tables = async () => (await readdir(store.path)).filter(name => name.endsWith('.ldb'))

  await fill(1)
  const scans = [store.chunks(BUCKETS.code, {}, 10), store.chunks(BUCKETS.code, { reverse: true }, 10)]
  const keys = store.keys(BUCKETS.code)
  for (const scan of [...scans, keys]) await scan.next()
  const replaced = await tables()
  expect(replaced.length).toBeGreaterThan(0)
  await fill(2)
  expect((await tables()).filter(name => replaced.includes(name))).toEqual([])
  for (const scan of [...scans, keys]) await scan.return(undefined)
})
