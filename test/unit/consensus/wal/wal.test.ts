import { describe, expect, test } from 'vitest'
import { openWal } from '../../../../src/consensus/wal/wal.ts'
import type { WalEntry } from '../../../../src/consensus/wal/wal-format.ts'
import { MemoryFiles } from '../../../support/consensus/memory-files.ts'

const entry = (type: number, size: number): WalEntry => ({ type, payload: new Uint8Array(size).fill(type) })
// None ends in zeros: a cut that takes only zeros away takes nothing away.
const BATCHES = [[entry(1, 10), entry(2, 90)], [entry(3, 1)], [entry(4, 77), entry(5, 1), entry(6, 40)]]

const write = async (files: MemoryFiles, batches: readonly (readonly WalEntry[])[]) => {
  const wal = await openWal(files, 'wal')
  for (const batch of batches) {
    for (const { type, payload } of batch) wal.append(type, payload)
    await wal.take()()
  }
  await wal.close()
  return wal
}

const read = async (files: MemoryFiles) => {
  const wal = await openWal(files, 'wal')
  return { condition: wal.condition, entries: wal.takeEntries() }
}

/** End of each record, in bytes. */
const ends = (batches: readonly (readonly WalEntry[])[]): readonly number[] => {
  let at = 8
  return batches.flat().map(({ payload }) => (at += 13 + payload.byteLength))
}

describe('the write-ahead log', () => {
  test('gives back what was written, batch after batch, over several lives', async () => {
    const files = new MemoryFiles()
    expect((await read(files)).condition).toBe('missing')
    for (const batch of BATCHES) await write(files, [batch])
    expect(await read(files)).toEqual({ condition: 'sound', entries: BATCHES.flat() })
  })

  test('a tail cut at any byte leaves the whole records before it, and can be written on', async () => {
    const files = new MemoryFiles()
    await write(files, BATCHES)
    const all = ends(BATCHES)
    const content = files.content('wal')!
    for (let cut = 0; cut <= all.at(-1)!; cut++) {
      for (const filled of [false, true]) {
        const torn = new MemoryFiles()
        const bytes = new Uint8Array(filled ? all.at(-1)! + 1_000 : cut)
        bytes.set(content.subarray(0, cut))
        torn.put('wal', bytes)
        const whole = all.filter(end => end <= cut).length
        const expected = BATCHES.flat().slice(0, whole)
        const { condition, entries } = await read(torn)
        expect(entries, `cut at ${cut}`).toEqual(expected)
        expect(condition, `cut at ${cut}`).toBe(cut < 8 ? 'missing' : 'sound')
        await write(torn, [[entry(9, 5)]])
        expect((await read(torn)).entries, `written on after ${cut}`).toEqual([...expected, entry(9, 5)])
      }
    }
  }, 60_000)

  test('the last batch may be torn in any part, not only at its end', async () => {
    const files = new MemoryFiles()
    await write(files, BATCHES)
    const content = files.content('wal')!
    const start = ends(BATCHES)[2]!
    for (let at = start; at < ends(BATCHES).at(-1)!; at++) {
      const torn = new MemoryFiles()
      const bytes = content.slice(0, 2_000)
      bytes[at]! ^= 0xff
      torn.put('wal', bytes)
      const { condition, entries } = await read(torn)
      expect(condition, `byte ${at}`).toBe('sound')
      expect(entries.slice(0, 3)).toEqual(BATCHES.flat().slice(0, 3))
    }
  })

  test('what a torn batch left behind never follows what is written in its place', async () => {
    const files = new MemoryFiles()
    await write(files, [[entry(1, 10)], [entry(2, 20), entry(3, 20)]])
    const bytes = files.content('wal')!
    bytes[ends([[entry(1, 10)]])[0]! + 20]! ^= 0xff
    files.put('wal', bytes)
    await write(files, [[entry(4, 20)]])
    expect((await read(files)).entries).toEqual([entry(1, 10), entry(4, 20)])
  })

  test('damage before a later batch is no torn write', async () => {
    const files = new MemoryFiles()
    await write(files, [...BATCHES, [entry(7, 20)], [entry(8, 20)]])
    const content = files.content('wal')!
    const [, , , , , sixth] = ends(BATCHES)
    for (let at = 8; at < sixth!; at++) {
      const bytes = content.slice(0, 2_000)
      bytes[at]! ^= 0xff
      files.put('wal', bytes)
      expect((await read(files)).condition, `byte ${at}`).toBe('corrupt')
    }
  })

  test('a foreign file is not taken for a log', async () => {
    const files = new MemoryFiles()
    files.put('wal', new TextEncoder().encode('something else entirely'))
    expect((await read(files)).condition).toBe('corrupt')
  })

  test('starts anew at one stroke, whatever the crash', async () => {
    for (let operation = 1; operation <= 3; operation++) {
      const files = new MemoryFiles()
      await write(files, BATCHES)
      const wal = await openWal(files, 'wal')
      files.crashAt(files.operations + operation)
      await wal.reset([entry(7, 3)]).catch(() => undefined)
      files.recover()
      const { condition, entries } = await read(files)
      expect(condition).toBe('sound')
      expect([BATCHES.flat(), [entry(7, 3)]]).toContainEqual(entries)
    }
  })

  test('goes on after it was started anew, and stays small', async () => {
    const files = new MemoryFiles()
    const wal = await openWal(files, 'wal')
    for (let round = 0; round < 3; round++) {
      for (let batch = 0; batch < 40; batch++) {
        wal.append(1, new Uint8Array(50_000))
        await wal.take()()
      }
      const before = wal.sizeBytes
      await wal.reset([entry(7, 3)])
      expect(wal.sizeBytes).toBeLessThan(before / 1_000)
      wal.append(2, new Uint8Array(round + 1))
      await wal.take()()
    }
    expect((await read(files)).entries).toEqual([entry(7, 3), { type: 2, payload: new Uint8Array(3) }])
    expect(files.content('wal')!.byteLength).toBeLessThanOrEqual(1024 * 1024)
  })

  test('records appended while a batch is written belong to the next', async () => {
    const files = new MemoryFiles()
    const wal = await openWal(files, 'wal')
    wal.append(1, new Uint8Array(1))
    const first = wal.take()
    wal.append(2, new Uint8Array(2))
    await first()
    expect((await read(files.copy())).entries.map(({ type }) => type)).toEqual([1])
    await wal.take()()
    expect((await read(files.copy())).entries.map(({ type }) => type)).toEqual([1, 2])
  })
})
