import { describe, expect, test } from 'vitest'
import { ownMessages } from '../../../src/consensus/recovery.ts'
import { openWal } from '../../../src/consensus/wal.ts'
import { decodeRecords } from '../../../src/consensus/wal-records.ts'
import { blockCodec, Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { createMember } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'
import { createRandom } from '../../support/consensus/random.ts'
import { Said } from '../../support/consensus/said.ts'

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
        if (life < 2) files.crashAt(files.operations + 1 + random.below(20))
      }
      expect(said.contradictions, `operation ${operation}`).toEqual([])
      // The last life ran undisturbed.
      expect(ledger.blocks.length, `operation ${operation}`).toBeGreaterThanOrEqual(4)
    }
  })
})

/** Four members whose commits are lost at height 2, so that one log holds several rounds with locks and round changes. */
const openHeightFiles = async () => {
  const clock = new ManualClock()
  const mesh = new Mesh()
  const members = await Promise.all(
    [0, 1, 2, 3].map(async index => {
      const files = new MemoryFiles()
      const ledger = new Ledger(index * 1_000)
      const { engine } = await createMember({ index, size: 4, clock, files, ledger, network: mesh.port(index) })
      return { files, ledger, engine }
    }),
  )
  mesh.passes = (_, __, message) => {
    if (message.type === 'decided') return true
    if (!('number' in message) || message.number < 2) return true
    if (message.type === 'commit') return false
    // Round 1 prepares nothing.
    return !(message.type === 'prepare' && message.round === 1)
  }
  for (const { engine } of members) await engine.start()
  await clock.advance(16_000)
  for (const { files } of members) files.crashNow()
  for (const { engine } of members) await engine.stop()
  for (const { files } of members) files.recover()
  return { members, clock }
}

/** How many bytes apart the cuts are; 1 tries every byte (ten seconds). `wal.test.ts` cuts at each byte always. */
const STRIDE = Number(process.env['WAL_STRIDE'] ?? 7)

describe('a log cut anywhere', () => {
  test('starts a member that contradicts nothing it may have said', async () => {
    const { members } = await openHeightFiles()
    const { files, ledger } = members[1]!
    expect(ledger.blocks).toHaveLength(1)
    const content = files.content('wal')!
    const used = content.findLastIndex(byte => byte !== 0) + 1
    const modes = { voting: 0, quarantined: 0 }
    let rounds = 0
    for (let cut = 0; cut <= used; cut += STRIDE) {
      const clock = new ManualClock(1_000_000_100_000)
      const kept = new MemoryFiles()
      kept.put('wal', content.subarray(0, cut))
      const said = new Said()
      const wal = await openWal(kept, 'wal')
      const own = ownMessages(await decodeRecords(wal.takeEntries(), blockCodec), () => 1)
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
    // Only a log without its first record counts as lost.
    expect(modes.quarantined).toBeLessThan(9)
    expect(modes.voting).toBeGreaterThan(100)
  }, 120_000)

  test('with the watermark of a later moment it says nothing at all', async () => {
    const { members } = await openHeightFiles()
    const { files, ledger } = members[2]!
    const content = files.content('wal')!
    const used = content.findLastIndex(byte => byte !== 0) + 1
    for (let cut = 0; cut < used - 1; cut += 7) {
      const clock = new ManualClock(1_000_000_100_000)
      const kept = files.copy()
      kept.put('wal', content.subarray(0, cut))
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
  }, 60_000)

  test('all four come back from their logs and finish the height with the block they had locked', async () => {
    const { members } = await openHeightFiles()
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
