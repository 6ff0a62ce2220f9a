/**
 * A large store: fills a folder with `--gib` of rows in the order of their keys, then overwrites random ones in batches as a block does: four
 * a second (`paced`), then as fast as they are taken (`flood`), each for `--seconds` and until compaction rests. Random rows are read and a
 * consensus log beside it syncs a vote ten times a second meanwhile, also before (`idle`). One JSON line: milliseconds of batches, reads and votes, bytes
 * written for those given, waits that LevelDB's LOG names, open and mapped tables, memory (Linux). A folder that is there already is used again.
 *   node bench/large-store.ts [--gib 10] [--seconds 90] [--rows 1000] [--memory MIB] [--datadir DIR]
 */
import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { memoryShares } from '../src/config/limits/storage.ts'
import { nodeFileSystem } from '../src/consensus/wal/file-system.ts'
import { openWal } from '../src/consensus/wal/wal.ts'
import { BUCKETS } from '../src/storage/buckets.ts'
import { Store } from '../src/storage/store.ts'
import { sleep } from '../test/support/node-process.ts'
import { memoryMiB, writtenBytesOf } from './process-usage.ts'

const { values } = parseArgs({
  options: {
    gib: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '90' },
    rows: { type: 'string', default: '1000' },
    memory: { type: 'string' },
    datadir: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const rowsOfBatch = Number(values.rows)
const folder = values.datadir ?? join(tmpdir(), `large-store-${values.gib}`)
const path = join(folder, 'db')
mkdirSync(folder, { recursive: true })

const KEY_BYTES = 32
const VALUE_BYTES = 992
const ROW_BYTES = KEY_BYTES + VALUE_BYTES
const FILL_ROWS = 5_000
const VOTE_BYTES = 200
const READS = 100
const MIB = 2 ** 20
const count = Math.floor((Number(values.gib) * 2 ** 30) / ROW_BYTES)
const step = 2n ** 64n / BigInt(count)
const noise = randomBytes(MIB)

/** Key of a row: later rows have larger ones. */
const key = new Uint8Array(KEY_BYTES)
const keyView = new DataView(key.buffer)
const keyOf = (row: number): Uint8Array => {
  keyView.setBigUint64(0, BigInt(row) * step)
  for (let at = 8; at < KEY_BYTES; at += 4) keyView.setUint32(at, Math.imul(row + at, 0x9e37_79b1) >>> 0)
  return key
}
const value = (): Uint8Array => {
  const at = Math.floor(Math.random() * (MIB - VALUE_BYTES))
  return noise.subarray(at, at + VALUE_BYTES)
}
const randomRow = (): number => Math.floor(Math.random() * count)

const round = (number: number): number => Math.round(number * 10) / 10
const spread = (times: readonly number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)
  return { count: times.length, p50: at(0.5), p99: at(0.99), longest: at(1) }
}

/** Open files and mapped tables of this process. */
const files = () => {
  const open = readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const tables = maps.filter(line => line.endsWith('.ldb'))
  const bytes = tables.reduce((sum, line) => {
    const [from, to] = (line.split(' ')[0] as string).split('-').map(text => Number.parseInt(text, 16))
    return sum + (to as number) - (from as number)
  }, 0)
  return {
    open: open.length,
    openTables: open.filter(name => name.endsWith('.ldb')).length,
    mappedTables: tables.length,
    mappedMiB: Math.round(bytes / MIB),
    ...memoryMiB(process.pid),
  }
}

/** Lines of LevelDB's LOG about writes that wait. */
const waits = (): number => readFileSync(join(path, 'LOG'), 'utf8').match(/waiting\.\.\./g)?.length ?? 0

/** Waits until nothing has been written for some seconds. */
const rested = async (): Promise<void> => {
  let quiet = 0
  for (let last = writtenBytesOf(process.pid); quiet < 4; ) {
    await sleep(1_000)
    const now = writtenBytesOf(process.pid)
    quiet = now - last < MIB ? quiet + 1 : 0
    last = now
  }
}

const fill = async (store: Store): Promise<number> => {
  const startedMs = performance.now()
  for (let row = 0; row < count; ) {
    const batch = store.batch()
    for (const end = Math.min(count, row + FILL_ROWS); row < end; row++) batch.put(BUCKETS.slot, keyOf(row), value())
    await batch.write({ sync: false })
    if (row % (100 * FILL_ROWS) === 0) process.stderr.write(`${row} of ${count} rows\n`)
  }
  return round((performance.now() - startedMs) / 1_000)
}

const isFilled = (store: Store): boolean => store.getSync(BUCKETS.slot, keyOf(count - 1)) !== undefined

/** Runs one kind of load; `pauseMs` between the starts of two batches, undefined: no batches. */
const load = async (store: Store, pauseMs: number | undefined) => {
  const wal = await openWal(nodeFileSystem, join(folder, 'votes'))
  if (wal.condition !== 'sound') await wal.reset([])
  const [batches, reads, votes]: number[][] = [[], [], []] as never
  const timed = async (times: number[] | undefined, work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now()
    await work()
    times?.push(performance.now() - startedMs)
  }
  const before = { written: writtenBytesOf(process.pid), waits: waits() }
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1_000
  let isOver = false
  const voting = (async () => {
    for (; !isOver; await sleep(100)) {
      wal.append(1, noise.subarray(0, VOTE_BYTES))
      await timed(votes, () => wal.take()())
    }
  })()
  const reading = (async () => {
    for (; !isOver; await sleep(1_000 / READS))
      await timed(reads, () => store.get(BUCKETS.slot, keyOf(randomRow()).slice()))
  })()
  while (performance.now() < endMs) {
    const nextMs = performance.now() + (pauseMs ?? 1_000)
    if (pauseMs !== undefined) {
      const batch = store.batch()
      for (let row = 0; row < rowsOfBatch; row++) batch.put(BUCKETS.slot, keyOf(randomRow()), value())
      await timed(batches, () => batch.write({ sync: false }))
    }
    await sleep(Math.max(0, nextMs - performance.now()))
  }
  const tookSeconds = (performance.now() - startedMs) / 1_000
  const during = files()
  isOver = true
  await Promise.all([voting, reading])
  await wal.close()
  await store.flush()
  await rested()
  const givenMiB = ((batches?.length ?? 0) * rowsOfBatch * ROW_BYTES) / MIB
  const writtenMiB = (writtenBytesOf(process.pid) - before.written) / MIB
  return {
    seconds: round(tookSeconds),
    ...(givenMiB > 0 && {
      batchMs: spread(batches ?? []),
      givenMiBPerSecond: round(givenMiB / tookSeconds),
      writtenForGiven: round(writtenMiB / givenMiB),
    }),
    readMs: spread(reads ?? []),
    voteMs: spread(votes ?? []),
    waits: waits() - before.waits,
    ...during,
  }
}

const { database } = memoryShares(values.memory === undefined ? undefined : Number(values.memory))
const store = await Store.open(path, { memoryBytes: database })
const fillSeconds = isFilled(store) ? null : await fill(store)
await rested()
const gib = round(readdirSync(path).reduce((sum, name) => sum + lstatSync(join(path, name)).size, 0) / 2 ** 30)
const results: Record<string, unknown> = {}
for (const [name, pauseMs] of [['idle'], ['paced', 250], ['flood', 0]] as const) {
  results[name] = await load(store, pauseMs)
  process.stderr.write(`${name}: ${JSON.stringify(results[name])}\n`)
}
process.stdout.write(`${JSON.stringify({ bench: 'large-store', gib, rows: count, fillSeconds, ...results })}\n`)
await store.close()
