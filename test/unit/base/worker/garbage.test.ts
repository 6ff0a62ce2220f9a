import { setImmediate as turn } from 'node:timers/promises'
import { Script } from 'node:vm'
import { collectGarbage, collectYoungGarbage, ExternalGarbage } from '@tandem/base/worker/garbage.ts'
import { expect, test, vi } from 'vitest'

const MIB = 2 ** 20

/** Compiled before the first collection. */
const cachedData = new Script('1').createCachedData()

test('garbage is collected when memory has grown by 16 MiB beyond what the last collection left', () => {
  let bytes = 10 * MIB
  let left = 0
  const collectedAt: number[] = []
  const garbage = new ExternalGarbage(
    () => {
      collectedAt.push(bytes / MIB)
      bytes = left
    },
    () => bytes,
  )
  const grow = (to: number) => {
    bytes = to * MIB
    garbage.check()
  }
  for (const to of [10, 16]) grow(to)
  expect(collectedAt).toEqual([])
  left = 12 * MIB
  for (const to of [17, 28]) grow(to)
  expect(collectedAt).toEqual([17])
  grow(29)
  expect(collectedAt).toEqual([17, 29])
  // What is given back only some time after a collection counts as given back.
  for (const to of [2, 18]) grow(to)
  expect(collectedAt).toEqual([17, 29])
  grow(19)
  expect(collectedAt).toEqual([17, 29, 19])
})

test('a collection of all garbage takes what is old, too', () => {
  let objects = Array.from({ length: 1_000_000 }, (_, index) => ({ index }))
  expect(objects.length).toBeGreaterThan(0)
  const before = process.memoryUsage().heapUsed
  objects = []
  collectGarbage()
  expect(before - process.memoryUsage().heapUsed).toBeGreaterThan(20 * MIB)
})

test('byte arrays that live shortly do not gather outside the heap', async () => {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let i = 0; i < 4_096; i++) {
    Buffer.allocUnsafeSlow(64 * 1_024)
    if (i % 16 > 0) continue
    collectYoungGarbage()
    await turn()
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  // V8 alone lets up to all 256 MiB gather: the arrays fill a small part of the young generation.
  expect(most).toBeLessThan(64 * MIB)
})

test('V8 takes compiled code also after a collection', () => {
  collectGarbage()
  // V8 tells sources apart by their length here; one that it has compiled it would not load.
  expect(new Script('2', { cachedData }).cachedDataRejected).toBe(false)
})

test.each(['24.0.0', '26.0.0'])('memory outside the heap is told by Node.js %s', async version => {
  vi.resetModules()
  vi.stubGlobal('process', { ...process, versions: { node: version }, memoryUsage: process.memoryUsage })
  const { externalBytes } = await import('@tandem/base/worker/garbage.ts')
  const growth = () => {
    const before = externalBytes()
    const array = new Uint8Array(16 * MIB)
    return externalBytes() - before - array.byteLength
  }
  // Garbage of other tests may be given back between the two looks.
  await expect.poll(growth).toBeGreaterThanOrEqual(0)
  vi.unstubAllGlobals()
})
