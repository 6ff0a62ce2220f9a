import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BUCKETS } from '../../../src/storage/buckets.ts'
import { readNumber } from '../../../src/storage/keys.ts'
import { Store } from '../../../src/storage/store.ts'
import { WriteLatch } from '../../../src/storage/write-latch.ts'
import { type DiskError, FailingDisk, whyNoFailingDisk } from '../../support/disk/failing-disk.ts'
import { temporaryDirectory } from './temp-store.ts'

const PROGRAM = new URL('./write-batches.ts', import.meta.url).pathname

const run = async (error: DiskError, skipped: number, count: number) => {
  const path = await temporaryDirectory()
  const disk = new FailingDisk(path)
  onTestFinished(() => disk.remove())
  disk.fail(error, skipped, count)
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, path], {
    encoding: 'utf8',
    env: { ...process.env, ...disk.env },
  })
  expect(status, stderr).toBe(0)
  return { path, acknowledged: JSON.parse(stdout) as readonly number[], stderr, failed: disk.failed }
}

const stored = async (path: string): Promise<ReadonlySet<number>> => {
  const store = await Store.open(path)
  try {
    const found = new Set<number>()
    for await (const key of store.keys(BUCKETS.code)) found.add(readNumber(key))
    return found
  } finally {
    await store.close()
  }
}

const why = whyNoFailingDisk()
describe.skipIf(why !== undefined)(`a disk that fails${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  // The first operations open the database; the rest are writes and syncs of its log.
  test.each([
    ['ENOSPC', 40, 1, /[Nn]o space left/],
    ['ENOSPC', 250, 2, /[Nn]o space left/],
    ['ENOSPC', 333, 0, /[Nn]o space left/],
    ['EIO', 200, 1, /[Ii]nput\/output error/],
    ['EROFS', 300, 0, /[Rr]ead-only file system/],
  ] as const)(
    '%s after %i operations, %i times: no acknowledged row is missing at the next start',
    async (error, skipped, count, reason) => {
      const { path, acknowledged, stderr, failed } = await run(error, skipped, count)
      expect(failed).toBeGreaterThan(0)
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(acknowledged.length).toBeLessThan(400)
      const found = await stored(path)
      expect(acknowledged.filter(number => !found.has(number))).toEqual([])
      expect(stderr).toMatch(/STORE_WRITE_FAILED/)
      expect(stderr).toMatch(reason)
    },
  )
})

const failing = async (): Promise<void> => {
  throw new Error('no space left')
}

describe('write latch', () => {
  test('after a failed write every later one fails with its reason, in every thread', async () => {
    const reasons: string[] = []
    const owner = new WriteLatch({ onFailed: reason => reasons.push(reason) })
    const other = new WriteLatch({ memory: owner.memory })
    await other.write(async () => {})
    await expect(other.write(failing)).rejects.toThrow('no space left')
    await expect(other.write(async () => {})).rejects.toThrow('no space left')
    await expect(owner.write(async () => {})).rejects.toThrow('no space left')
    await expect.poll(() => reasons).toEqual(['no space left'])
    owner.close()
  })

  test('a failed write is reported after the latch of another thread was closed', async () => {
    const reasons: string[] = []
    const owner = new WriteLatch({ onFailed: reason => reasons.push(reason) })
    new WriteLatch({ memory: owner.memory }).close()
    await new Promise(resolve => setTimeout(resolve, 10))
    await expect(owner.write(failing)).rejects.toThrow('no space left')
    await expect.poll(() => reasons).toEqual(['no space left'])
    owner.close()
  })

  test('a write that waits for another one does not begin when that one fails', async () => {
    const latch = new WriteLatch()
    let begun = 0
    const writes = [
      latch.write(async () => {
        await new Promise(resolve => setTimeout(resolve, 10))
        throw new Error('input/output error')
      }),
      latch.write(async () => {
        begun++
      }),
    ]
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(begun).toBe(0)
  })

  test('a thread that ends during a write leaves the end of the log unknown: nothing more is written', async () => {
    const latch = new WriteLatch()
    new Int32Array(latch.memory)[1] = 99
    const waiting = latch.write(async () => {})
    latch.abandon()
    await expect(waiting).rejects.toThrow('a thread ended during a write')
  })
})
