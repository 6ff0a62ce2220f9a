import { describe, expect, test } from 'vitest'
import { walCheckpoint } from '../../../src/consensus/core/effects.ts'
import { openHeight } from '../../../src/consensus/core/height.ts'
import type { HeightConfig, WalRecord } from '../../../src/consensus/core/types.ts'
import {
  ownMessagesFromRecords,
  signPositionFromMessage,
  walRecordsOfHeight,
} from '../../../src/consensus/wal/recovery.ts'
import { scanWal, type WalEntry } from '../../../src/consensus/wal/wal-format.ts'
import { encodeHeightRecord, joinRecords } from '../../../src/consensus/wal/wal-records.ts'
import { comparePositions } from '../../../src/consensus/wal/watermark.ts'
import { type Block, decodeBlock } from '../../../src/primitives/block.ts'
import { blockCodec, GENESIS_HASH } from '../../support/consensus/ledger.ts'
import { committeeOf } from '../../support/consensus/member.ts'
import { Said } from '../../support/consensus/said.ts'
import { losingCommits, type RecordedMember, record } from './recorded-runs.ts'
import { SecondLife } from './second-life.ts'

/** End and batch of each record of a log. */
const layoutOf = (log: Uint8Array) => {
  const view = new DataView(log.buffer, log.byteOffset)
  const records: { readonly end: number; readonly batch: number }[] = []
  for (let at = 8; at < log.byteLength; ) {
    const end = at + 8 + view.getUint32(at, true)
    records.push({ end, batch: view.getUint32(at + 9, true) })
    at = end
  }
  return records
}

const decode = (payload: Uint8Array) => ({ ...decodeBlock(payload), transactions: [] }) as Block

/** Starts on the first `count` records, the database at what they had decided, and lets neighbours try to turn it against itself. */
const live = (
  { index, size, blocks }: RecordedMember,
  entries: readonly WalEntry[],
  script: readonly string[],
  rewrite: (records: readonly WalRecord[], config: HeightConfig) => readonly WalRecord[] = records => records,
) => {
  const records = joinRecords(entries, decode)
  const number = records.filter(({ type }) => type === 'decided').length
  const { block, certificate } = blocks[number - 1] ?? { block: undefined, certificate: null }
  const timestamp = block?.header.timestamp ?? 0
  const head = { number, hash: block?.hash ?? GENESIS_HASH, timestamp, certificate }
  const said = new Said()
  for (const message of ownMessagesFromRecords(records, () => index)) said.add(message)
  const before = said.size
  const { members } = committeeOf(size)
  const config = { number: number + 1, parentHash: head.hash, members, index, earliestMs: 0 }
  const life = new SecondLife(index, size, head, rewrite(walRecordsOfHeight(records, number + 1), config), said)
  for (const turn of script) {
    if (turn === 'another') life.hearAnother()
    else life.goOn()
  }
  return { contradictions: said.contradictions, news: said.size - before }
}

const lastSaid = (records: readonly WalRecord[], { index }: HeightConfig) =>
  ownMessagesFromRecords(records, () => index)
    .map(signPositionFromMessage)
    .sort(comparePositions)
    .at(-1)

/** A log written anew with what its height needs. */
const shortened = (records: readonly WalRecord[], config: HeightConfig): readonly WalRecord[] => {
  const kept = walCheckpoint(openHeight(config, records))
  const read = joinRecords(
    kept.map(record => encodeHeightRecord(record, blockCodec)),
    decode,
  )
  expect(walCheckpoint(openHeight(config, read))).toEqual(read)
  expect(read.length).toBeLessThanOrEqual(Math.max(records.length, 10))
  // A log that ends before the watermark would be taken for a damaged one.
  expect(lastSaid(read, config)).toEqual(lastSaid(records, config))
  return read
}

const SCRIPTS = [
  ['go on', 'go on', 'go on', 'go on'],
  ['another', 'go on', 'another', 'go on', 'another'],
  ['go on', 'another', 'go on', 'another', 'go on'],
]

describe.each<[string, () => Promise<readonly RecordedMember[]>, number, number]>([
  ['three blocks of a lone validator', () => record(1, 2.5), 0, 0],
  ['three blocks decided in round 0', () => record(4, 2.5), 1, 0],
  ['a height of several rounds with locks, still open', () => record(4, 16, losingCommits(99)), 1, 3],
  ['a height decided in a later round, and the next', () => record(4, 5.5, losingCommits(2)), 3, 2],
])('the log of %s', (_, run, index, minRounds) => {
  let once: Promise<RecordedMember> | undefined
  const recorded = () => (once ??= run().then(members => members[index]!))

  test('cut after any byte gives the whole records before it', async () => {
    const { log } = await recorded()
    const layout = layoutOf(log)
    const all = scanWal(log).entries
    expect(all).toHaveLength(layout.length)
    const padded = new Uint8Array(log.byteLength + 500)
    padded.set(log.subarray(0, 7))
    for (let cut = 8; cut <= log.byteLength; cut++) {
      padded[cut - 1] = log[cut - 1]!
      // The file is padded with zeros, so bytes after the cut that were zeros still have their value.
      let kept = cut
      while (log[kept] === 0) kept++
      const whole = layout.findLastIndex(({ end }) => end <= kept) + 1
      const { condition, entries } = scanWal(padded.subarray(0, cut + 50))
      // Not `toEqual`: ten thousands of comparisons.
      if (condition !== 'sound' || entries.length !== whole)
        expect({ cut, condition, entries }).toEqual(all.slice(0, whole))
    }
  })

  test('with any byte changed in its last batch, whichever that is, gives a beginning of its records', async () => {
    const { log } = await recorded()
    const layout = layoutOf(log)
    const all = scanWal(log).entries
    let flips = 0
    for (const [last, { end, batch }] of layout.entries()) {
      if (layout[last + 1]?.batch === batch) continue
      const first = layout.findIndex(other => other.batch === batch)
      const bytes = log.slice(0, end)
      for (let at = layout[first - 1]?.end ?? 8; at < end; at++) {
        const mask = 1 << (at & 7)
        bytes[at]! ^= mask
        const { condition, entries } = scanWal(bytes)
        const isBeginning = entries.length >= first && entries.length <= last
        if (condition !== 'sound' || !isBeginning || !entries.every((entry, i) => isSame(entry, all[i]!)))
          expect({ at, condition, entries }).toEqual(all.slice(0, last))
        bytes[at]! ^= mask
        flips++
      }
    }
    expect(flips).toBe(log.byteLength - 8)
  })

  test.each(SCRIPTS.map(script => [script.join(', '), script] as const))(
    'from each of its beginnings a member goes on without contradicting itself: %s',
    async (__, script) => {
      const member = await recorded()
      const entries = scanWal(member.log).entries
      let news = 0
      for (let count = 0; count <= entries.length; count++) {
        const life = live(member, entries.slice(0, count), script)
        expect(life.contradictions, `after ${count} records`).toEqual([])
        news += life.news
      }
      expect(news).toBeGreaterThan(entries.length)
    },
  )

  test.each(SCRIPTS.map(script => [script.join(', '), script] as const))(
    'and from each of them shortened to what its height needs: %s',
    async (__, script) => {
      const member = await recorded()
      const entries = scanWal(member.log).entries
      for (let count = 0; count <= entries.length; count++) {
        const life = live(member, entries.slice(0, count), script, shortened)
        expect(life.contradictions, `after ${count} records`).toEqual([])
        expect(life.news, `after ${count} records`).toBe(live(member, entries.slice(0, count), script).news)
      }
    },
  )

  test('is worth it: it holds what the run was made for', async () => {
    const { log, index: own } = await recorded()
    const records = joinRecords(scanWal(log).entries, decode)
    const rounds = Math.max(...ownMessagesFromRecords(records, () => own).map(({ round }) => round))
    expect(rounds).toBeGreaterThanOrEqual(minRounds)
    expect(records.some(({ type }) => type === 'decided')).toBe(true)
    const locks = records.filter(({ type }) => type === 'prepared').length
    expect(locks).toBeGreaterThanOrEqual(minRounds === 0 ? 3 : 2)
  })
})

const isSame = (a: WalEntry, b: WalEntry): boolean =>
  a.type === b.type && a.payload.byteLength === b.payload.byteLength && Buffer.compare(a.payload, b.payload) === 0

test('a member that forgets what it signed is caught by these scripts', async () => {
  const member = (await record(4, 16, losingCommits(99)))[1]!
  const entries = scanWal(member.log).entries
  const records = joinRecords(entries, decode)
  const number = records.filter(({ type }) => type === 'decided').length
  const caught = SCRIPTS.map(script => {
    const said = new Said()
    for (const message of ownMessagesFromRecords(records, () => 1)) said.add(message)
    const { block, certificate } = member.blocks[number - 1]!
    const head = { number, hash: block.hash, timestamp: block.header.timestamp, certificate }
    const life = new SecondLife(1, 4, head, [], said)
    for (const turn of script) {
      if (turn === 'another') life.hearAnother()
      else life.goOn()
    }
    return said.contradictions.length
  })
  expect(caught.every(count => count > 0)).toBe(true)
})
