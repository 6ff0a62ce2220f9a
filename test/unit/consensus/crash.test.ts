import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import type { BuildRequest } from '../../../src/consensus/ports.ts'
import { ownMessagesFromRecords } from '../../../src/consensus/wal/recovery.ts'
import { openWal } from '../../../src/consensus/wal/wal.ts'
import { decodeRecords } from '../../../src/consensus/wal/wal-records.ts'
import { type Block, blockFromParts, hashByteStrings } from '../../../src/primitives/block.ts'
import { decodeExtraData, encodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { blockCodec, Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { createMember } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'
import { Said } from '../../support/consensus/said.ts'
import { losingCommits, record } from './recorded-runs.ts'

describe('power lost at every file operation', () => {
  test('a lone validator goes on, with the same votes and the same chain', async () => {
    const random = createRandom(1)
    for (let operation = 1; operation <= 60; operation++) {
      const clock = new ManualClock()
      const files = new MemoryFiles()
      const ledger = new Ledger()
      const said = new Said()
      const mesh = new Mesh()
      mesh.onSaid = (_, message) => said.add(message)
      files.crashAt(operation)
      for (let life = 0; life < 4; life++) {
        const member = await createMember({ index: 0, size: 1, clock, files, ledger, network: mesh.port(0) }).catch(
          () => null,
        )
        if (member !== null) {
          await member.engine.start().catch(() => undefined)
          await clock.advance(4_000)
          expect(member.engine.status().mode, `operation ${operation}, life ${life}`).not.toBe('quarantined')
        }
        files.crashNow()
        await member?.engine.stop().catch(() => undefined)
        files.recover(bytes => bytes.subarray(0, random.below(bytes.byteLength + 1)))
        ledger.losePower()
        if (life < 2) files.crashAt(files.operations + 1 + random.below(20))
      }
      expect(said.contradictions, `operation ${operation}`).toEqual([])
      // The last life ran undisturbed.
      expect(ledger.blocks.length, `operation ${operation}`).toBeGreaterThanOrEqual(4)
    }
  })
})

/** A committee that lost power in a height of several rounds with locks and round changes. */
const openHeight = () => record(4, 16, losingCommits(Number.POSITIVE_INFINITY))

/** Cuts at the end of each record and in the middle of each; `torn-log.test.ts` shows that any other cut leaves what one of these leaves. */
const cutsOf = (log: Uint8Array): readonly number[] => {
  const view = new DataView(log.buffer, log.byteOffset)
  const cuts = [0, 4]
  for (let at = 8; at < log.byteLength; ) {
    const end = at + 8 + view.getUint32(at, true)
    cuts.push(at, Math.floor((at + end) / 2))
    at = end
  }
  return [...cuts, log.byteLength]
}

/** Builds blocks with long bodies. */
class LongLedger extends Ledger {
  bodyBytes = 3 * 1024 * 1024

  override async build(request: BuildRequest): Promise<Block> {
    const { header, hash, ...body } = await super.build(request)
    if (this.bodyBytes === 0) return { header, hash, ...body }
    const proofHeaders = [new Uint8Array(this.bodyBytes)]
    const extra = { ...decodeExtraData(header.extraData), proofHeadersHash: hashByteStrings(proofHeaders) }
    return blockFromParts({ ...header, extraData: encodeExtraData(extra) }, { ...body, proofHeaders })
  }
}

test('a height that does not end leaves a log of bounded size, from which it goes on', async () => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  const said = new Said()
  mesh.onSaid = (from, message) => void (from === 0 && said.add(message))
  // Each round has another block, which nobody prepares.
  mesh.passes = (_, __, message) => message.type !== 'prepare'
  const parts = await Promise.all(
    [0, 1].map(async index => {
      const ledger = new LongLedger(index * 1_000)
      const member = { index, size: 2, clock, files: new MemoryFiles(), ledger, network: mesh.port(index) }
      return { member, engine: (await createMember(member)).engine }
    }),
  )
  for (const { engine } of parts) await engine.start()
  let longest = 0
  for (let seconds = 0; seconds < 240; seconds += 20) {
    await clock.advance(20_000)
    longest = Math.max(longest, parts[0]!.member.files.content('wal')!.byteLength)
  }
  const { round } = parts[0]!.engine.status()
  const { walBytes } = CONSENSUS_LIMITS
  expect(round * 3 * 1024 * 1024).toBeGreaterThan(walBytes)
  expect(longest).toBeLessThan(walBytes + 4 * 1024 * 1024)
  for (const { engine } of parts) await engine.stop()
  mesh.passes = () => true
  for (const { member } of parts) member.ledger.bodyBytes = 0
  const again = await Promise.all(parts.map(({ member }) => createMember(member)))
  for (const { engine } of again) await engine.start()
  expect(again[0]!.engine.status()).toMatchObject({ mode: 'voting', round })
  await clock.advance(10_000)
  expect(said.contradictions).toEqual([])
  for (const { member } of parts) expect(member.ledger.blocks.length).toBeGreaterThan(3)
  for (const { engine } of again) await engine.stop()
})

describe('a log cut anywhere', () => {
  test('starts a member that contradicts no message it may have sent', async () => {
    const { log, ledger } = (await openHeight())[1]!
    expect(ledger.blocks).toHaveLength(1)
    const cuts = cutsOf(log)
    const modes = { voting: 0, quarantined: 0 }
    let rounds = 0
    for (const cut of cuts) {
      const clock = new ManualClock(1_000_000_100_000)
      const kept = new MemoryFiles()
      kept.put('wal', log.subarray(0, cut))
      const said = new Said()
      const wal = await openWal(kept, 'wal')
      const own = ownMessagesFromRecords(await decodeRecords(wal.takeEntries(), blockCodec), () => 1)
      for (const message of own) said.add(message)
      rounds = Math.max(rounds, ...own.map(message => message.round))
      const mesh = new Mesh()
      mesh.onSaid = (_, message) => said.add(message)
      const copy = new Ledger(50_000)
      copy.blocks.push(...ledger.blocks)
      const { engine, errors } = await createMember({
        index: 1,
        size: 4,
        clock,
        files: kept,
        ledger: copy,
        network: mesh.port(1),
      })
      await engine.start()
      await clock.advance(2_500)
      const { mode } = engine.status()
      modes[mode as keyof typeof modes]++
      expect(errors).toEqual([])
      expect(said.contradictions, `cut at ${cut}`).toEqual([])
      await engine.stop()
    }
    expect(rounds).toBeGreaterThanOrEqual(3)
    // Only a log without its magic counts as lost.
    expect(modes).toEqual({ voting: cuts.length - 2, quarantined: 2 })
  })

  test('with the watermark of a later moment it says nothing at all', async () => {
    const { files, ledger, log } = (await openHeight())[2]!
    for (const cut of cutsOf(log).slice(0, -1)) {
      const clock = new ManualClock(1_000_000_100_000)
      const kept = files.copy()
      kept.put('wal', log.subarray(0, cut))
      const mesh = new Mesh()
      let signed = 0
      mesh.onSaid = (_, message) => {
        if (message.type !== 'status') signed++
      }
      const copy = new Ledger()
      copy.blocks.push(...ledger.blocks)
      const { engine } = await createMember({
        index: 2,
        size: 4,
        clock,
        files: kept,
        ledger: copy,
        network: mesh.port(2),
      })
      await engine.start()
      await clock.advance(5_000)
      expect(engine.status().mode, `cut at ${cut}`).toBe('quarantined')
      expect(signed).toBe(0)
      await engine.stop()
    }
  })

  test('all four come back from their logs and finish the height with the block they had locked', async () => {
    const members = await openHeight()
    const clock = new ManualClock(1_000_000_100_000)
    const mesh = new Mesh()
    const locked = new Set<string>()
    const engines = await Promise.all(
      members.map(async ({ files, ledger }, index) => {
        const records = await decodeRecords((await openWal(files, 'wal')).takeEntries(), blockCodec)
        for (const record of records) {
          if (record.type === 'signed' && record.vote.type === 'commit' && record.vote.number === 2)
            locked.add(record.vote.blockHash)
        }
        return (await createMember({ index, size: 4, clock, files, ledger, network: mesh.port(index) })).engine
      }),
    )
    for (const engine of engines) await engine.start()
    await clock.advance(30_000)
    expect(locked.size).toBe(1)
    for (const { ledger } of members) {
      expect(ledger.blocks.length).toBeGreaterThan(5)
      expect(ledger.blocks[1]!.block.hash).toBe([...locked][0])
    }
    for (const engine of engines) await engine.stop()
  })
})
