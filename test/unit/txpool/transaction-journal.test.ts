import { constants } from 'node:fs'
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, concatBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { createJournalFile } from '../../../src/txpool/journal-file.ts'
import {
  decodeJournal,
  encodeRecords,
  JOURNAL_MAGIC,
  TransactionJournal,
} from '../../../src/txpool/transaction-journal.ts'
import { withTempDir } from '../../support/devnet.ts'
import { MemoryStorage } from './memory-storage.ts'

const record = (n: number, size = 20): Uint8Array => new Uint8Array(size).fill(n)
const hexes = (raws: Iterable<Uint8Array>): string[] => [...raws].map(bytesToHex)

describe('format', () => {
  const raws = [record(1, 1), record(2, 110), record(3, 40)]
  const file = concatBytes(JOURNAL_MAGIC, encodeRecords(raws))
  const ends = [8, 8 + 9, 8 + 9 + 118, 8 + 9 + 118 + 48]

  test('round trip', () => {
    expect(file.byteLength).toBe(ends[3])
    const { transactions, lostBytes } = decodeJournal(file)
    expect([hexes(transactions), lostBytes]).toEqual([hexes(raws), 0])
  })

  test('torn at any byte: whole records before it are kept', () => {
    for (let size = 0; size <= file.byteLength; size++) {
      const { transactions, lostBytes } = decodeJournal(file.subarray(0, size))
      const whole = ends.slice(1).filter(end => end <= size).length
      expect(hexes(transactions)).toEqual(hexes(raws.slice(0, whole)))
      expect(lostBytes).toBe(size < 8 ? size : size - ends[whole]!)
    }
  })

  test('torn at any byte and filled with zeros, as some file systems do', () => {
    for (let size = 0; size <= file.byteLength; size++) {
      const torn = new Uint8Array(file.byteLength + 64)
      torn.set(file.subarray(0, size))
      const whole = ends.slice(1).filter(end => end <= size).length
      expect(decodeJournal(torn).transactions.length).toBe(whole)
    }
  })

  test('any changed byte: nothing but records before it', () => {
    for (let at = 0; at < file.byteLength; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = file.slice()
        damaged[at] = damaged[at]! ^ flip
        const whole = ends.slice(1).filter(end => end <= at).length
        expect(hexes(decodeJournal(damaged).transactions)).toEqual(hexes(at < 8 ? [] : raws.slice(0, whole)))
      }
    }
  })
})

describe('journal', () => {
  const open = async (storage: MemoryStorage, live: () => Iterable<Uint8Array> = () => [], limitBytes = 1 << 20) => {
    const journal = new TransactionJournal({ storage, live, limitBytes, logger: silentLogger })
    await journal.load()
    await journal.rewrite()
    return journal
  }

  test('one that the pool takes while the file is rewritten stays in it', async () => {
    const storage = new MemoryStorage()
    const pool = Array.from({ length: 512 }, (_, n) => record(n & 0xff))
    const journal = await open(storage, function* () {
      yield* [...pool]
    })
    const late = record(1, 300)
    journal.waiting.add(late, 'UNDERPRICED')
    storage.replace = async parts => {
      const written: Uint8Array[] = []
      for (const part of parts) {
        written.push(part)
        // A block comes between two writes to the file: the pool accepts it now.
        if (written.length === 2 && journal.waiting.remove(keccak256Hex(late))) pool.push(late)
      }
      storage.file = concatBytes(...written)
      return storage.file.byteLength
    }
    await journal.rewrite()
    expect(pool).toContain(late)
    expect(hexes(decodeJournal(storage.file).transactions)).toContain(bytesToHex(late))
  })

  test('resolves only after the bytes are written, and shares writes', async () => {
    const storage = new MemoryStorage()
    const journal = await open(storage)
    const gate = Promise.withResolvers<void>()
    storage.gate = gate.promise
    let done = 0
    const appends = Array.from({ length: 1_000 }, (_, i) => journal.append(record(i & 0xff)).then(() => done++))
    await new Promise(resolve => setTimeout(resolve, 5))
    appends.push(journal.append(record(7)).then(() => done++))
    expect(done).toBe(0)
    gate.resolve()
    await Promise.all(appends)
    expect(storage.appends).toBe(2)
    expect(decodeJournal(storage.file).transactions.length).toBe(1_001)
    await journal.close()
    expect(storage.closed).toBe(true)
  })

  test('is rewritten with what is live when it grows beyond its limit', async () => {
    const storage = new MemoryStorage()
    const live = [record(200), record(201)]
    const journal = await open(storage, () => live, 300)
    for (let i = 0; i < 20; i++) await journal.append(record(i))
    expect(storage.replaces).toBeGreaterThan(1)
    expect(storage.file.byteLength).toBeLessThanOrEqual(300)
    expect(hexes(decodeJournal(storage.file).transactions)).toEqual(expect.arrayContaining(hexes(live)))
  })

  test('grows to twice what is live, instead of being rewritten at each append', async () => {
    const storage = new MemoryStorage()
    const live = Array.from({ length: 50 }, (_, i) => record(i))
    const journal = await open(storage, () => live, 300)
    for (let i = 0; i < 40; i++) await journal.append(record(i))
    expect(storage.replaces).toBe(1)
  })

  test('a torn tail is gone after the next start', async () => {
    const storage = new MemoryStorage()
    const first = await open(storage)
    await first.append(record(1))
    storage.file = concatBytes(storage.file, record(9, 5))
    const second = new TransactionJournal({
      storage,
      live: () => [record(1)],
      limitBytes: 1 << 20,
      logger: silentLogger,
    })
    expect(hexes(await second.load())).toEqual(hexes([record(1)]))
    await second.append(record(2))
    const { transactions, lostBytes } = decodeJournal(storage.file)
    expect([hexes(transactions), lostBytes]).toEqual([hexes([record(1)]), 0])
  })

  test.each([1, 2, 3])(
    'a disk that fails at write %i: those appends reject, later ones hold, nothing is torn',
    async failIn => {
      const storage = new MemoryStorage()
      const live: Uint8Array[] = []
      const journal = await open(storage, () => live)
      storage.failIn = failIn
      const failed: number[] = []
      for (let i = 1; i <= 5; i++) {
        live.push(record(i))
        await journal.append(record(i)).catch(error => {
          expect(error).toMatchObject({ code: 'JOURNAL_FAILED' })
          failed.push(i)
        })
      }
      expect(failed).toEqual([failIn])
      const { transactions, lostBytes } = decodeJournal(storage.file)
      expect([hexes(transactions), lostBytes]).toEqual([hexes(live), 0])
    },
  )

  test('two failures in a row', async () => {
    const storage = new MemoryStorage()
    const journal = await open(storage, () => [record(1)])
    storage.failIn = 1
    await expect(journal.append(record(1))).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    storage.failIn = 1
    await expect(journal.append(record(1))).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
    await journal.append(record(1))
    expect(hexes(decodeJournal(storage.file).transactions)).toEqual(hexes([record(1)]))
  })

  test('refuses after close', async () => {
    const journal = await open(new MemoryStorage())
    await journal.close()
    await expect(journal.append(record(1))).rejects.toMatchObject({ code: 'JOURNAL_FAILED' })
  })
})

describe('file', () => {
  test('appends, replaces and survives an unfinished replacement', () =>
    withTempDir(async dir => {
      const path = join(dir, 'transactions')
      const storage = createJournalFile(path)
      expect(await storage.read()).toHaveLength(0)
      expect(await storage.replace([JOURNAL_MAGIC, encodeRecords([record(1)])])).toBe(36)
      await storage.append(encodeRecords([record(2)]))
      await storage.append(encodeRecords([record(3)]))
      await storage.replace([JOURNAL_MAGIC, encodeRecords([record(3)])])
      await storage.append(encodeRecords([record(4)]))
      await storage.close()
      await writeFile(`${path}.new`, 'half a file')
      const again = createJournalFile(path)
      expect(hexes(decodeJournal(await again.read()).transactions)).toEqual(hexes([record(3), record(4)]))
      await expect(readFile(`${path}.new`)).rejects.toMatchObject({ code: 'ENOENT' })
      await again.close()
    }))

  test.runIf(process.platform === 'linux')('an append is synced by the write itself', () =>
    withTempDir(async directory => {
      const path = join(directory, 'transactions')
      const storage = createJournalFile(path)
      await storage.append(record(1))
      expect(await openFlags(path)).toEqual([constants.O_DSYNC | constants.O_APPEND])
      await storage.close()
      expect(await openFlags(path)).toEqual([])
    }),
  )

  test('a folder that is not there rejects', async () => {
    const storage = createJournalFile('/nonexistent/folder/transactions')
    expect(await storage.read()).toHaveLength(0)
    await expect(storage.append(record(1))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(storage.replace([record(1)])).rejects.toMatchObject({ code: 'ENOENT' })
    await storage.close()
  })
})

/** Flags of this process' open files of that name: those of synced and appending writes. */
const openFlags = async (path: string): Promise<number[]> => {
  const flags: number[] = []
  for (const fd of await readdir('/proc/self/fd')) {
    const target = await readlink(`/proc/self/fd/${fd}`).catch(() => undefined)
    if (target !== path) continue
    const [, octal = '0'] = /^flags:\s+([0-7]+)$/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
    flags.push(Number.parseInt(octal, 8) & (constants.O_DSYNC | constants.O_APPEND))
  }
  return flags
}
