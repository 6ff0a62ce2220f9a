import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CodedError } from '@tandem/base/errors.ts'
import { createRandom } from '@tandem/base/random.ts'
import { expect, test, vi } from 'vitest'
import { explainError } from '../../../src/cli/shared/explain-error.ts'
import { STORAGE_LIMITS } from '../../../src/config/limits/storage.ts'
import { BUCKETS, SEGMENT_BUCKETS } from '../../../src/storage/buckets.ts'
import { keyWithNumber, numberKey } from '../../../src/storage/keys.ts'
import { checkSegments, clearMoved, moveSegment, readMoved } from '../../../src/storage/move-segment.ts'
import { putIdentity } from '../../../src/storage/schema.ts'
import { Segments, segmentPath } from '../../../src/storage/segments.ts'
import { Store } from '../../../src/storage/store.ts'
import { FailingDisk, whyNoFailingDisk } from '../../support/disk/failing-disk.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory, temporaryStore } from './temp-store.ts'

const { segmentBlocks } = STORAGE_LIMITS
const PROGRAM = fileURLToPath(new URL('./move-segments.ts', import.meta.url))

const bytesOf = (bytes: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => (i * 31 + seed * 17 + (i >> 9)) & 0xff)

/** Rows of a store by bucket and key in hex. */
type Rows = Map<string, Uint8Array>

const put = async (
  store: Store,
  rows: Rows,
  added: readonly (readonly [number, Uint8Array, Uint8Array])[],
): Promise<void> => {
  const batch = store.batch()
  for (const [bucket, key, value] of added) {
    batch.put(bucket, key, value)
    rows.set(`${bucket} ${Buffer.from(key).toString('hex')}`, value)
  }
  await batch.write({ sync: false })
}

const expectAll = async (store: Store, rows: Rows): Promise<void> => {
  for (const [name, value] of rows) {
    const [bucket, key] = name.split(' ') as [string, string]
    const found = await store.get(Number(bucket), Buffer.from(key, 'hex'))
    if (found === undefined || Buffer.compare(found, value) !== 0) expect.fail(`row ${name} is another`)
  }
}

const NUMBERS = [0, 1, 70, 71, 72, 5_000, segmentBlocks - 1, segmentBlocks]

/** Rows of a few blocks, of every table. */
const fill = async (store: Store, numbers: readonly number[] = NUMBERS): Promise<Rows> => {
  const rows: Rows = new Map()
  const byNumber = SEGMENT_BUCKETS.filter(bucket => bucket !== BUCKETS.receiptPart)
  for (const number of numbers)
    await put(
      store,
      rows,
      byNumber.map(bucket => [bucket, numberKey(number), bytesOf(10, number + bucket)]),
    )
  await put(
    store,
    rows,
    [1, 2].map(part => [BUCKETS.receiptPart, keyWithNumber(numberKey(70), part), bytesOf(9, part)]),
  )
  return rows
}

test('rows of a segment are read as before, long ones and empty ones too, and only those that were there', async () => {
  const store = await temporaryStore()
  const rows = await fill(store)
  const { frameBytes } = STORAGE_LIMITS
  const sizes = [2 * frameBytes, 0, frameBytes, frameBytes - 1]
  await put(
    store,
    rows,
    sizes.map((bytes, index) => [BUCKETS.body, numberKey(80 + index), bytesOf(bytes)]),
  )
  await put(
    store,
    rows,
    Array.from({ length: 200 }, (_, at) => [BUCKETS.body, numberKey(100 + at), bytesOf(100, at)]),
  )
  const before = store.snapshot()
  await moveSegment(store)
  expect(readMoved(store)).toEqual({ moved: segmentBlocks, cleared: segmentBlocks, dropped: 0 })
  for (const bucket of SEGMENT_BUCKETS)
    expect(await store.first(bucket, { lt: numberKey(segmentBlocks) })).toBeUndefined()
  await expectAll(store, rows)
  for (const bucket of SEGMENT_BUCKETS)
    for (const number of [2, 69, 73, segmentBlocks - 2, segmentBlocks + 1, 10 * segmentBlocks])
      expect(await store.get(bucket, numberKey(number))).toBeUndefined()
  expect(await store.get(BUCKETS.receiptPart, keyWithNumber(numberKey(70), 3))).toBeUndefined()
  expect(await store.get(BUCKETS.body, numberKey(1), before)).toBeDefined()
  await before.close()
  await checkSegments(store, true)
  await moveSegment(store)
  await expectAll(store, rows)
  const ofWorker = await Store.attach(store.share())
  await expectAll(ofWorker, rows)
  await ofWorker.close()
})

/** Store of a chain whose genesis hash is a repeated digit. */
const storeOf = async (digit: string): Promise<Store> => {
  const store = await temporaryStore()
  const batch = store.batch()
  putIdentity(batch, { network: 'devnet', genesis: `0x${digit.repeat(64)}` })
  await batch.write()
  return store
}

/** File of the rows below as schema 8 has it. Bytes that the compression makes may change, what they say may not. */
const GOLDEN =
  'VE5ETVNFRzIREREREREREREREREREREREREREREREREREREREREREQAAAAAAAAAAKLUv/QBY3QAAiAAAAAIAAQADH/8AASwBAgMHAxAAKKoIMhgBKLUv/QBYeQAAAAAAAQABAAAAAgAAAAEEBgABAAAAAAAAAAAAMAAAACQAAAFHtLa0fR0AAQAAAAIAAAAAAFQAAAAYAAAAD7vFLaEAAAACObvRblRORE1TRUcy'
const GOLDEN_ROWS = [
  [BUCKETS.body, numberKey(1), Uint8Array.of(1, 2, 3)],
  [BUCKETS.body, numberKey(segmentBlocks - 1), new Uint8Array(300).fill(7)],
  [BUCKETS.receiptPart, keyWithNumber(numberKey(1), 2), Uint8Array.of(4)],
] as const

test('a segment written by the program of this schema is read, and the next one says the same', async () => {
  const store = await storeOf('1')
  const rows: Rows = new Map()
  await put(store, rows, GOLDEN_ROWS)
  await moveSegment(store)
  const path = segmentPath(store.segmentFolder, 0)
  const made = readFileSync(path)
  const golden = Buffer.from(GOLDEN, 'base64')
  writeFileSync(path, golden)
  await checkSegments(store, true)
  await expectAll(store, rows)
  const framesEnd = (file: Buffer) => file.byteLength - 16 - 2 * 25
  expect(made.subarray(0, 48)).toEqual(golden.subarray(0, 48))
  expect(made.subarray(framesEnd(made), framesEnd(made) + 7)).toEqual(
    golden.subarray(framesEnd(golden), framesEnd(golden) + 7),
  )
  expect(made.subarray(-16, -12)).toEqual(golden.subarray(-16, -12))
})

test('each eighth move frees the disk of deleted rows, and a stop before that is made up for', async () => {
  const segmentBlocks = 250
  const store = await temporaryStore({ segmentBlocks })
  const rows: Rows = new Map()
  const tableBytes = () =>
    readdirSync(store.path)
      .filter(name => name.endsWith('.ldb'))
      .reduce((sum, name) => sum + statSync(join(store.path, name)).size, 0)
  const end = 8 * segmentBlocks
  for (let number = 0; number < end; number++)
    await put(store, rows, [[BUCKETS.certificate, numberKey(number), randomBytes(1_000)]])
  await store.compact(BUCKETS.certificate, { gte: numberKey(0), lt: numberKey(end) })
  expect(tableBytes()).toBeGreaterThan(1_900_000)
  const compact = vi.spyOn(store, 'compact').mockRejectedValueOnce(new Error('stopped'))
  for (let segment = 1; segment < 8; segment++) await moveSegment(store)
  expect(compact).not.toHaveBeenCalled()
  await expect(moveSegment(store)).rejects.toThrow('stopped')
  expect(readMoved(store)).toMatchObject({ moved: end, cleared: end - segmentBlocks })
  await clearMoved(store)
  expect(readMoved(store)).toMatchObject({ moved: end, cleared: end })
  expect(tableBytes()).toBeLessThan(100_000)
  await expectAll(store, rows)
})

test('every changed byte of a segment is found, with the name of its file', async () => {
  const store = await temporaryStore()
  await fill(store, [1])
  await moveSegment(store)
  const path = segmentPath(store.segmentFolder, 0)
  const whole = readFileSync(path)
  /** As a worker reads it, which checks the index and the frame of the row. */
  const readBody = () =>
    new Segments(store.segmentFolder, segmentBlocks, true).row(BUCKETS.body, numberKey(1), () => undefined)
  const body = await readBody()
  expect(body).toEqual(bytesOf(10, 1 + BUCKETS.body))
  for (let at = 0; at < whole.byteLength; at++) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] as number) ^ (1 << (at % 8))
    writeFileSync(path, changed)
    expect([body, 'STORE_CORRUPT'], `byte ${at}`).toContainEqual(await readBody().catch(({ code }) => code))
    await expect(checkSegments(store, true), `byte ${at}`).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      detail: { path },
    })
  }
  rmSync(path)
  await expect(readBody()).rejects.toMatchObject({ code: 'STORE_CORRUPT', detail: { path } })
  writeFileSync(path, whole)
  await checkSegments(store, true)
})

test('a segment that is cut short, missing or another is refused by its index, with its name and what to do', async () => {
  const store = await temporaryStore()
  await fill(store)
  await moveSegment(store)
  await moveSegment(store)
  const [first, second] = [0, segmentBlocks].map(number => segmentPath(store.segmentFolder, number)) as [string, string]
  const whole = readFileSync(second)
  const refusal = async (): Promise<string> => {
    const error: unknown = await checkSegments(store).catch((reason: unknown) => reason)
    return explainError((error as CodedError).detail)
  }
  for (let size = 0; size < whole.byteLength; size += 7) {
    truncateSync(second, size)
    expect(await refusal(), `${size} bytes`).toMatch(/segments\/8192\.seg is damaged: .*Restore the folder from a copy/)
    writeFileSync(second, whole)
  }
  writeFileSync(second, readFileSync(first))
  expect(await refusal()).toContain('it is the segment of block 0')
  rmSync(second)
  expect(await refusal()).toContain('the file is missing')
  writeFileSync(second, whole)
  await checkSegments(store)
})

test('a segment of another chain is refused at the check and at a read, with its name and its genesis', async () => {
  const [other, store] = [await storeOf('1'), await storeOf('2')]
  for (const filled of [other, store]) {
    await fill(filled)
    await moveSegment(filled)
  }
  const [foreign, path] = [other, store].map(({ segmentFolder }) => segmentPath(segmentFolder, 0)) as [string, string]
  await checkSegments(store, true)
  const own = readFileSync(path)
  writeFileSync(path, readFileSync(foreign))
  const reason = `it is the segment of block 0 of the chain with genesis 0x${'1'.repeat(64)}`
  const refusal = { code: 'STORE_CORRUPT', detail: { path, reason } }
  await expect(checkSegments(store)).rejects.toMatchObject(refusal)
  await expect(store.get(BUCKETS.body, numberKey(1))).rejects.toMatchObject(refusal)
  writeFileSync(path, own)
  expect(await store.get(BUCKETS.body, numberKey(1))).toBeDefined()
})

test('a read of a damaged frame fails and names the file; other frames are read', async () => {
  const store = await temporaryStore()
  await fill(store)
  await moveSegment(store)
  const path = segmentPath(store.segmentFolder, 0)
  const bytes = readFileSync(path)
  bytes[52] = (bytes[52] as number) ^ 1
  writeFileSync(path, bytes)
  await expect(store.get(BUCKETS.body, numberKey(1))).rejects.toMatchObject({ code: 'STORE_CORRUPT', detail: { path } })
  expect(await store.get(BUCKETS.certificate, numberKey(1))).toBeDefined()
})

test('a store with segments reads as one without, whatever happens in between', async () => {
  const random = createRandom(SEED)
  for (let round = 0; round < 4; round++) {
    const path = await temporaryDirectory()
    let store = await Store.open(path)
    const rows: Rows = new Map()
    for (let step = 0; step < 60; step++) {
      const { moved } = readMoved(store)
      const choice = random.below(20)
      if (choice === 0 && moved < 3 * segmentBlocks) await moveSegment(store)
      else if (choice === 1 && moved < 3 * segmentBlocks) {
        vi.spyOn(store, 'clear').mockRejectedValueOnce(new Error('stopped before rows were deleted'))
        await expect(moveSegment(store)).rejects.toThrow('stopped')
      } else if (choice === 2) {
        await store.close()
        store = await Store.open(path)
      } else if (choice === 3) await clearMoved(store)
      else
        await put(
          store,
          rows,
          Array.from({ length: 20 }, () => {
            const bucket = SEGMENT_BUCKETS[random.below(SEGMENT_BUCKETS.length)] as number
            const key = numberKey(moved + random.below(2 * segmentBlocks))
            const isPart = bucket === BUCKETS.receiptPart
            return [bucket, isPart ? keyWithNumber(key, 1 + random.below(3)) : key, bytesOf(random.below(300), step)]
          }),
        )
      if (random.chance(0.2)) await expectAll(store, rows)
    }
    await expectAll(store, rows)
    await checkSegments(store, true)
    await store.close()
  }
})

test.skipIf(whyNoFailingDisk())(
  'whichever write of a move is the first to fail, no row is lost and the next move ends',
  { timeout: 240_000 },
  async () => {
    const path = await temporaryDirectory()
    const first = await Store.open(path)
    const rows = await fill(first)
    await first.close()
    const disk = new FailingDisk(path)
    const isLong = process.env['PLACES'] !== undefined
    try {
      let moved = 0
      // Each attempt finds what the one before it left.
      for (let skipped = 0; moved < 2 * segmentBlocks; skipped += isLong ? 1 : 5) {
        disk.fail('ENOSPC', skipped)
        spawnSync(process.execPath, [PROGRAM, path], { env: { ...process.env, ...disk.env } })
        const hasFailed = disk.failed > 0
        disk.mend()
        const store = await Store.open(path)
        await expectAll(store, rows)
        await checkSegments(store, true)
        ;({ moved } = readMoved(store))
        await store.close()
        if (!hasFailed) expect(moved).toBeGreaterThan(0)
      }
      const store = await Store.open(path)
      await clearMoved(store)
      await expectAll(store, rows)
      await store.close()
    } finally {
      disk.remove()
    }
  },
)

/** `KILLS=50 npx vitest run --project unit --project e2e segments`: the long form. */
const KILLS = Number(process.env['KILLS'] ?? 3)

test('a process killed while it moves segments loses no row', { timeout: 600_000 }, async () => {
  const random = createRandom(SEED)
  const path = await temporaryDirectory()
  const buckets = [BUCKETS.body, BUCKETS.receipts, BUCKETS.certificate]
  let next = 0
  let hasStopped = false
  for (let kill = 0; kill < KILLS || !hasStopped; kill++) {
    const store = await Store.open(path)
    const { moved, cleared } = readMoved(store)
    if (kill > 0) hasStopped ||= moved === next - segmentBlocks || cleared < moved
    for (; next < moved + segmentBlocks; next++) {
      const batch = store.batch()
      for (const bucket of buckets) batch.put(bucket, numberKey(next), bytesOf(120, next + bucket))
      await batch.write({ sync: false })
    }
    await store.close()
    const child = spawn(process.execPath, [PROGRAM, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), random.below(400)))
    await once(child, 'close')
    const after = await Store.open(path)
    await checkSegments(after, true)
    for (const bucket of buckets)
      for (let number = kill % 5; number < next; number += 5) {
        const row = await after.get(bucket, numberKey(number))
        if (row === undefined || Buffer.compare(row, bytesOf(120, number + bucket)) !== 0)
          expect.fail(`row ${number} of table ${bucket} is another after kill ${kill}`)
      }
    await after.close()
  }
})
