import { ClassicLevel } from 'classic-level'
import { expect, onTestFinished, test } from 'vitest'
import { type Bounds, scan } from '../../../src/storage/scan.ts'
import { temporaryDirectory } from './temp-store.ts'

const ROWS = 3_000
const keyAt = (at: number): Uint8Array => Uint8Array.of(1, at >> 8, at & 255)

const openLevel = async (rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]) => {
  const options = { keyEncoding: 'view', valueEncoding: 'view' } as const
  const level = new ClassicLevel<Uint8Array, Uint8Array>(await temporaryDirectory(), options)
  await level.open()
  onTestFinished(() => level.close())
  await level.batch(rows.map(row => ({ type: 'put', ...row })))
  return level
}

/** Rows and sizes of pieces of a scan in a store of 3,000 rows. */
const scanned = async (bounds: Partial<Bounds>, size = 1_000) => {
  const level = await openLevel(Array.from({ length: ROWS }, (_, at) => ({ key: keyAt(at), value: keyAt(at) })))
  const asked: number[] = []
  const found: number[] = []
  const pieces = scan({ reverse: false, limit: -1, ...bounds } as Bounds, {
    open: options => {
      const iterator = level.iterator(options)
      return {
        nextv: rows => {
          asked.push(rows)
          return iterator.nextv(rows)
        },
        seek: key => iterator.seek(key),
        close: () => iterator.close(),
      }
    },
    keyOf: ([key]) => key,
    size,
  })
  for await (const rows of pieces) for (const [key] of rows) found.push((key[1] as number) * 256 + (key[2] as number))
  return { asked, found }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('a range with nothing or little in it makes the store allocate for a few rows only', async () => {
  const nothing = await scanned({ gte: keyAt(ROWS) })
  expect(nothing.found).toEqual([])
  expect(Math.max(...nothing.asked)).toBeLessThanOrEqual(16)
  const little = await scanned({ lt: keyAt(10) })
  expect(little.found).toEqual(upTo(10))
  expect(Math.max(...little.asked)).toBeLessThanOrEqual(16)
})

test('a long range is read whole, in pieces that grow to their limit', async () => {
  const { asked, found } = await scanned({})
  expect(found).toEqual(upTo(ROWS))
  expect(Math.max(...asked)).toBe(1_000)
  expect(asked.length).toBeLessThan(16)
  expect((await scanned({ reverse: true })).found).toEqual(upTo(ROWS).reverse())
  expect((await scanned({ limit: 200 })).found).toEqual(upTo(200))
  expect((await scanned({ limit: 16 })).found).toEqual(upTo(16))
  expect((await scanned({}, 5)).found).toEqual(upTo(ROWS))
})

test('a closed iterator holds no long rows, whether its piece was full, the last or cut short', async () => {
  const level = await openLevel(
    Array.from({ length: 60 }, (_, at) => ({ key: keyAt(at), value: new Uint8Array(at === 0 ? 100_000 : 4_096) })),
  )
  const kept: number[] = []
  const pieces = scan({ reverse: false, limit: -1 } as Bounds, {
    open: options => {
      const iterator = level.iterator(options)
      let bytes = 0
      let hasSought = false
      return {
        nextv: async rows => {
          const found = await iterator.nextv(rows)
          // At the end of the range it reads nothing anew.
          if (found.length > 0 || hasSought) bytes = found.reduce((sum, [, value]) => sum + value.byteLength, 0)
          return found
        },
        seek: key => {
          hasSought = true
          iterator.seek(key)
        },
        close: () => {
          kept.push(bytes)
          return iterator.close()
        },
      }
    },
    keyOf: ([key]) => key,
    size: 1_000,
  })
  const found: number[] = []
  for await (const rows of pieces) for (const [key] of rows) found.push(key[2] as number)
  expect(found).toEqual(upTo(60))
  expect(kept.length).toBeGreaterThan(1)
  expect(Math.max(...kept)).toBeLessThanOrEqual(32 * 1_024)
})
