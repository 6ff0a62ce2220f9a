import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import type { DecidedBlock } from '../../../src/consensus/ports.ts'
import { sign } from '../../../src/crypto/signature.ts'
import { signerIndexes } from '../../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest } from '../../../src/primitives/consensus/vote.ts'
import { blockCodec, Ledger } from '../../support/consensus/ledger.ts'
import { ManualClock, settle } from '../../support/consensus/manual-clock.ts'
import { committeeOf, createMember, DOMAIN, keyOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { Mesh } from '../../support/consensus/mesh.ts'
import { Said } from '../../support/consensus/said.ts'
import { committee, hashes, portsOf } from './group.ts'

/** Takes the seal of a member out of a certificate. */
const withoutSeal = (decided: DecidedBlock, index: number): DecidedBlock => {
  const { round, bitmap, seals } = decided.certificate
  const signers = signerIndexes(decided.certificate)
  const kept = seals.filter((_, at) => signers[at] !== index)
  const bits = bitmap.map((byte, at) => (at === index >> 3 ? byte & ~(1 << (index & 7)) : byte))
  return { ...decided, certificate: { round, bitmap: bits, seals: kept } }
}

describe('a key that is used twice', () => {
  test('a vote with the own key that this node did not make stops it', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const { number, hash } = members[2]!.ledger.head()
    const vote = { type: 'commit', number: number + 1, round: 5, blockHash: hash } as const
    mesh.port(0).send('2', { ...vote, sender: 2, signature: sign(blockVoteDigest(DOMAIN, vote), keyOf(2)) })
    await settle()
    expect(members[2]!.engine.status().mode).toBe('failed')
    expect(members[2]!.errors).toMatchObject([{ code: 'KEY_IN_USE', detail: { number: number + 1, round: 5 } }])
    await stop()
  })

  test('another vote for a round it voted in is foreign, even when it has sent later ones', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const said: string[] = []
    mesh.passes = (_, __, message) => message.type !== 'commit'
    mesh.onSaid = (from, message) => {
      if (from === 2 && 'signature' in message) said.push(`${message.type} ${message.round}`)
    }
    await clock.advance(900)
    expect(said).toContain('commit 0')
    const { number, hash } = members[2]!.ledger.head()
    const vote = { type: 'prepare', number: number + 1, round: 0, blockHash: hash } as const
    mesh.port(0).send('2', { ...vote, sender: 2, signature: sign(blockVoteDigest(DOMAIN, vote), keyOf(2)) })
    await settle()
    expect(members[2]!.errors).toMatchObject([{ code: 'KEY_IN_USE', detail: { number: number + 1, round: 0 } }])
    await stop()
  })

  test('an own seal that its memory lacks, met while catching up, stops it', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    await clock.advance(3_500)
    const { files, ledger, engine } = members[1]!
    await engine.stop()
    const copy = new Ledger(77_000)
    copy.blocks.push(...ledger.blocks)
    const parts = { index: 1, size: 4, clock, files: files.copy(), ledger: copy, network: mesh.port(1) }
    const twin = await createMember(parts)
    await twin.engine.start()
    await clock.advance(5_000)
    await twin.engine.stop()
    expect(twin.errors).toEqual([])
    await revive(1)
    await clock.advance(3_000)
    expect(members[1]!.errors).toMatchObject([{ code: 'KEY_IN_USE' }])
    await stop()
  })

  test('own votes that come back change nothing', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    mesh.onSaid = (from, message) => {
      if (from === 2) mesh.port(0).send('2', message)
    }
    await clock.advance(4_500)
    expect(members[2]!.engine.status()).toMatchObject({ mode: 'voting', evidence: 0 })
    await stop()
  })
})

describe('lost memory', () => {
  test('a member without its log only follows until two heights were surely decided after its start, then votes again', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(3_500)
    await members[1]!.engine.stop()
    members[1]!.files.delete('wal')
    const engine = await revive(1)
    expect(engine.status().mode).toBe('quarantined')
    // Two heights are over; they could have been decided before.
    await clock.advance(8_000)
    expect(engine.status().mode).toBe('quarantined')
    await clock.advance(6_000)
    expect(engine.status().mode).toBe('voting')
    await clock.advance(2_000)
    const last = members[0]!.ledger.blocks.at(-1)!
    expect(last.certificate.seals.length).toBeGreaterThanOrEqual(3)
    expect(hashes(members[1]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  test('a directory that only looks new is found out by the own seals in the chain, and says nothing of the open height', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    const said = new Said()
    mesh.onSaid = (from, message) => {
      if (from === 3) said.add(message)
    }
    await clock.advance(4_500)
    // It locks a block of the open height, which nobody decides.
    const open = members[3]!.ledger.head().number + 1
    mesh.passes = (_, __, message) => message.type !== 'commit'
    await clock.advance(1_000)
    await members[3]!.engine.stop()
    members[3] = { ...members[3]!, files: new MemoryFiles(), ledger: new Ledger(90_000) }
    const engine = await revive(3)
    expect(engine.status().mode).toBe('voting')
    const before = said.size
    await clock.advance(20_000)
    expect(engine.status()).toMatchObject({ mode: 'quarantined', number: open })
    expect(said.size).toBe(before)
    mesh.passes = () => true
    await clock.advance(60_000)
    expect(engine.status().mode).toBe('voting')
    expect(said.size).toBeGreaterThan(before)
    expect(said.contradictions).toEqual([])
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  test('a log that is gone where the watermark stands was lost, also at the first height and with nothing in the watermark yet', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    const said = new Said()
    mesh.onSaid = (from, message) => {
      if (from === 3) said.add(message)
    }
    const [{ files }] = [members[3]!]
    const unused = files.content('watermark')
    expect(unused).toBeDefined()
    // It locks a block of the first height, which nobody decides; the power fails before the watermark is on disk, and the log is gone.
    mesh.passes = (_, __, message) => message.type !== 'commit'
    await clock.advance(1_500)
    expect(said.size).toBeGreaterThan(0)
    await members[3]!.engine.stop()
    files.put('watermark', unused as Uint8Array)
    files.delete('wal')
    const engine = await revive(3)
    expect(engine.status()).toMatchObject({ mode: 'quarantined', number: 1 })
    await clock.advance(20_000)
    expect(said.contradictions).toEqual([])
    mesh.passes = () => true
    await clock.advance(60_000)
    expect(engine.status().mode).toBe('voting')
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  test('one that never voted needs no quarantine', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await members[3]!.engine.stop()
    members[3] = { ...members[3]!, files: new MemoryFiles(), ledger: new Ledger(90_000) }
    await clock.advance(6_000)
    const engine = await revive(3)
    for (let second = 0; second < 6; second++) {
      await clock.advance(1_000)
      expect(engine.status().mode).toBe('voting')
    }
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  test('the quarantine outlives a restart', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(3_500)
    await members[1]!.engine.stop()
    members[1]!.files.delete('wal')
    expect((await revive(1)).status().mode).toBe('quarantined')
    await members[1]!.engine.stop()
    expect((await revive(1)).status().mode).toBe('quarantined')
    await stop()
  })

  test('so does that of a directory that only looked new, also with newer blocks from a snapshot', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    const said = new Said()
    mesh.onSaid = (from, message) => {
      if (from === 3) said.add(message)
    }
    await clock.advance(4_500)
    await members[3]!.engine.stop()
    const { ledger } = members[3]!
    members[3] = { ...members[3]!, files: new MemoryFiles(), ledger: new Ledger(90_000) }
    const found = await revive(3)
    for (let step = 0; step < 200 && found.status().mode === 'voting'; step++) await clock.advance(50)
    expect(found.status().mode).toBe('quarantined')
    await found.stop()
    members[3] = { ...members[3]!, ledger }
    const engine = await revive(3)
    expect(engine.status().mode).toBe('quarantined')
    const before = said.size
    await clock.advance(20_000)
    expect(engine.status().mode).toBe('voting')
    expect(said.size).toBeGreaterThan(before)
    expect(said.contradictions).toEqual([])
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  describe('a folder that begins with a snapshot', () => {
    /** Member 3 votes in the open height, which nobody decides, and loses its folder; the new one has every decided block from a snapshot. */
    const lost = async () => {
      const group = await committee(4)
      const { clock, mesh, members, revive } = group
      const said = new Said()
      mesh.onSaid = (from, message) => void (from === 3 && said.add(message))
      await clock.advance(4_500)
      const open = members[3]!.ledger.head().number + 1
      mesh.passes = (_, __, message) => message.type !== 'commit'
      await clock.advance(700)
      await members[3]!.engine.stop()
      const { ledger } = members[3]!
      expect(ledger.head().number).toBe(open - 1)
      const copy = new Ledger(90_000)
      // It opens its log at genesis; the snapshot comes after that.
      members[3] = { ...members[3]!, files: new MemoryFiles(), ledger: copy }
      mesh.passes = (from, to) => from !== 3 && to !== 3
      await (await revive(3)).stop()
      return { ...group, said, open, ledger, copy }
    }

    test('votes in no height that was open when the old folder was lost', async () => {
      const { clock, mesh, members, revive, stop, said, open, ledger, copy } = await lost()
      // Its own seals are in no certificate.
      copy.blocks.push(...ledger.blocks.map(decided => withoutSeal(decided, 3)))
      mesh.passes = (_, __, message) => message.type !== 'commit'
      const before = said.size
      const engine = await revive(3, { beganWithSnapshot: true })
      await clock.advance(20_000)
      expect(engine.status()).toMatchObject({ mode: 'quarantined', number: open })
      expect(said.size).toBe(before)
      mesh.passes = () => true
      await clock.advance(60_000)
      expect(engine.status().mode).toBe('voting')
      expect(said.size).toBeGreaterThan(before)
      expect(said.contradictions).toEqual([])
      expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
      await stop()
    })

    test('nor after another restart', async () => {
      const { clock, mesh, revive, stop, said, open, ledger, copy } = await lost()
      copy.blocks.push(...ledger.blocks.map(decided => withoutSeal(decided, 3)))
      mesh.passes = (_, __, message) => message.type !== 'commit'
      const before = said.size
      await (await revive(3, { beganWithSnapshot: true })).stop()
      const engine = await revive(3, { beganWithSnapshot: true })
      await clock.advance(20_000)
      expect(engine.status()).toMatchObject({ mode: 'quarantined', number: open })
      expect(said.size).toBe(before)
      await stop()
    })

    test('votes at once where every block of the chain was fetched: no seal of it is there', async () => {
      const { mesh, revive, stop, ledger, copy } = await lost()
      copy.blocks.push(...ledger.blocks.map(decided => withoutSeal(decided, 3)))
      mesh.passes = () => true
      expect((await revive(3)).status().mode).toBe('voting')
      await stop()
    })

    test('votes at once on the word of its operator', async () => {
      const { mesh, revive, stop, ledger, copy } = await lost()
      copy.blocks.push(...ledger.blocks)
      mesh.passes = () => true
      expect((await revive(3, { beganWithSnapshot: true, trustMissingLog: true })).status().mode).toBe('voting')
      await stop()
    })
  })

  test('the second of two validators, which never voted, votes at once on a snapshot: no block is decided without it', async () => {
    const [clock, mesh, joins] = [new ManualClock(), new Mesh(), 5]
    const port = { committee: (number: number) => committeeOf(number < joins ? 1 : 2) }
    const create = async (index: number, files: MemoryFiles, ledger: Ledger, beganWithSnapshot = false) => {
      const network = mesh.port(index)
      const ports = { execution: ledger, committee: port, network, blocks: blockCodec }
      const overrides = { ports, beganWithSnapshot }
      const { engine } = await createMember({ index, size: 2, clock, files, ledger, network, overrides })
      await engine.start()
      return engine
    }
    const [first, second, files] = [new Ledger(), new Ledger(80_000), new MemoryFiles()]
    const engines = [await create(0, new MemoryFiles(), first)]
    await clock.advance(8_000)
    expect(first.blocks).toHaveLength(joins - 1)
    await (await create(1, files, new Ledger(90_000))).stop()
    second.blocks.push(...first.blocks)
    const engine = await create(1, files, second, true)
    await clock.advance(8_000)
    expect(engine.status().mode).toBe('voting')
    expect(first.blocks.length).toBeGreaterThan(joins)
    expect(hashes({ ledger: second })).toEqual(hashes({ ledger: first }))
    for (const each of [...engines, engine]) await each.stop()
  })

  test('one of two whose seal is in the newest block of its snapshot has voted before', async () => {
    const { members, clock, revive, stop } = await committee(2)
    await clock.advance(4_500)
    await members[1]!.engine.stop()
    const { ledger } = members[1]!
    members[1] = { ...members[1]!, files: new MemoryFiles(), ledger: new Ledger(90_000) }
    await (await revive(1)).stop()
    members[1] = { ...members[1]!, ledger }
    expect((await revive(1, { beganWithSnapshot: true })).status().mode).toBe('quarantined')
    await stop()
  })

  test.each([
    ['a lost log', 'wal', (_: Uint8Array): Uint8Array | undefined => undefined],
    ['a damaged log', 'wal', (bytes: Uint8Array) => bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte))],
    ['a damaged watermark', 'watermark', (bytes: Uint8Array) => bytes.map(byte => byte ^ 1)],
  ] as const)('a lone validator with %s stops, unless its operator vouches for it', async (_, path, spoil) => {
    const { clock, members, revive, stop } = await committee(1)
    await clock.advance(5_500)
    await members[0]!.engine.stop()
    const { files, ledger } = members[0]!
    const spoilt: Uint8Array | undefined = spoil(files.content(path)!)
    if (spoilt === undefined) files.delete(path)
    else files.put(path, spoilt)
    const blocks = ledger.blocks.length
    const silent = await revive(0)
    await clock.advance(5_000)
    expect(silent.status().mode).toBe('quarantined')
    expect(ledger.blocks).toHaveLength(blocks)
    await silent.stop()
    await revive(0, { trustMissingLog: true })
    await clock.advance(5_000)
    expect(ledger.blocks.length).toBeGreaterThan(blocks + 3)
    await stop()
  })

  test('a decision that never reached the database reaches it at start', async () => {
    const { clock, members, revive, stop } = await committee(1)
    await clock.advance(2_500)
    const { ledger, engine } = members[0]!
    ledger.failCommit = new Error('power')
    await clock.advance(1_000)
    await engine.stop()
    const blocks = ledger.blocks.length
    ledger.failCommit = null
    await revive(0)
    expect(ledger.blocks.length).toBe(blocks + 1)
    expect(members[0]!.engine.status().mode).toBe('voting')
    await stop()
  })

  test('a log that could not be read for another reason than its bytes is not called damaged: the start fails, the log stays', async () => {
    const { clock, members, revive } = await committee(1)
    await clock.advance(2_500)
    const { ledger, engine, files } = members[0]!
    ledger.failCommit = new Error('power')
    await clock.advance(1_000)
    await engine.stop()
    ledger.failCommit = null
    const decode = async () => {
      throw new CodedError({ code: 'RECOVERY_FAILED', reason: 'no memory for a thread' })
    }
    const before = files.content('wal')
    const overrides = {
      trustMissingLog: true,
      ports: { ...portsOf(ledger), blocks: { ...blockCodec, decode } },
    }
    await expect(revive(0, overrides)).rejects.toMatchObject({ code: 'RECOVERY_FAILED' })
    expect(files.content('wal')).toEqual(before)
  })

  test('a database older than the log is brought up to it', async () => {
    const { clock, members, revive, stop } = await committee(1)
    await clock.advance(6_500)
    await members[0]!.engine.stop()
    const { ledger } = members[0]!
    const all = ledger.blocks.map(({ block }): Hex => block.hash)
    ledger.blocks.length -= 3
    await revive(0)
    expect(ledger.blocks.map(({ block }) => block.hash)).toEqual(all)
    await stop()
  })
})
