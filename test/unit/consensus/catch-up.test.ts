import { describe, expect, test } from 'vitest'
import type { DecidedBlock } from '../../../src/consensus/ports.ts'
import { settle } from '../../support/consensus/manual-clock.ts'
import { committee, hashes } from './group.ts'

/** Four members, of which the last one was away for `ms` and hears nobody now. */
const straggler = async (ms: number) => {
  const group = await committee(4)
  const { clock, mesh, members, revive } = group
  await clock.advance(3_000)
  await members[3]!.engine.stop()
  await clock.advance(ms)
  const said: string[] = []
  mesh.onSaid = (from, message) => {
    if (from === 3 && message.type !== 'status') said.push(message.type)
  }
  mesh.passes = (from, to) => from !== 3 && to !== 3
  const engine = await revive(3)
  const missed = () => members[0]!.ledger.blocks.slice(members[3]!.ledger.blocks.length)
  return { ...group, engine, said, missed }
}

const adoptAll =
  (blocks: () => readonly DecidedBlock[]) =>
  async (adopt: (decided: DecidedBlock) => Promise<void>): Promise<void> => {
    for (const decided of blocks()) await adopt(decided)
  }

describe('catching up', () => {
  test('a member signs nothing meanwhile, and votes with the others afterwards', async () => {
    const { clock, mesh, members, engine, said, missed, stop } = await straggler(20_000)
    expect(missed().length).toBeGreaterThan(10)
    const before = said.length
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = engine.catchUp(async adopt => {
      await adoptAll(missed)(adopt)
      await promise
    })
    await settle()
    expect(engine.status().mode).toBe('following')
    await clock.advance(5_000)
    expect(said.slice(before)).toEqual([])
    resolve()
    await done
    expect(engine.status().mode).toBe('voting')
    mesh.passes = () => true
    await clock.advance(6_000)
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    expect(said).toContain('commit')
    for (const member of members) {
      expect(member.errors).toEqual([])
      expect(member.engine.status().evidence).toBe(0)
    }
    await stop()
  })

  test('what was adopted is the head of the next life, whose log follows it', async () => {
    const { clock, mesh, members, engine, missed, revive, stop } = await straggler(10_000)
    await engine.catchUp(adoptAll(missed))
    const head = members[3]!.ledger.head().number
    await engine.stop()
    const again = await revive(3)
    expect(again.status()).toMatchObject({ mode: 'voting', number: head + 1 })
    mesh.passes = () => true
    await clock.advance(3_000)
    expect(hashes(members[3]!)).toEqual(hashes(members[0]!))
    await stop()
  })

  test('a height that was not overtaken goes on where it stood', async () => {
    const { clock, members, stop } = await committee(4)
    await clock.advance(3_000)
    for (let at = 0; at < 12; at++) {
      for (const { engine } of members) await engine.catchUp(async () => {})
      await clock.advance(350)
    }
    await clock.advance(4_000)
    expect(members[0]!.ledger.blocks.length).toBeGreaterThan(5)
    for (const member of members) {
      expect(hashes(member)).toEqual(hashes(members[0]!))
      expect(member.errors).toEqual([])
      expect(member.engine.status()).toMatchObject({ mode: 'voting', evidence: 0 })
    }
    await stop()
  })

  test('work that fails rejects, and the member goes on after the adopted blocks', async () => {
    const { engine, members, missed, stop } = await straggler(10_000)
    const [first] = missed()
    const work = engine.catchUp(async adopt => {
      await adopt(first!)
      throw new Error('no peer')
    })
    await expect(work).rejects.toThrow('no peer')
    const { number } = members[3]!.ledger.head()
    expect(number).toBe(first!.block.header.number)
    expect(engine.status()).toMatchObject({ mode: 'voting', number: number + 1 })
    // A block that is there already is passed over.
    await engine.catchUp(adopt => adopt(first!))
    expect(members[3]!.ledger.head().number).toBe(number)
    await stop()
  })

  test('a commit that fails ends the engine', async () => {
    const { engine, members, missed, stop } = await straggler(10_000)
    members[3]!.ledger.failCommit = new Error('disk')
    await expect(engine.catchUp(adoptAll(missed))).rejects.toThrow('disk')
    expect(engine.status().mode).toBe('failed')
    expect(members[3]!.errors).toHaveLength(1)
    await stop()
  })

  test('the log follows the new head only once that is durable', async () => {
    const { engine, members, missed, revive, stop } = await straggler(10_000)
    const { ledger } = members[3]!
    const before = ledger.blocks.length
    ledger.failFlush = new Error('disk')
    await engine.catchUp(adoptAll(missed))
    expect(engine.status().mode).toBe('failed')
    expect(members[3]!.errors).toHaveLength(1)
    expect(ledger.blocks.length).toBeGreaterThan(before)
    ledger.losePower()
    expect(ledger.blocks.length).toBe(before)
    ledger.failFlush = null
    const again = await revive(3)
    expect(again.status()).toMatchObject({ mode: 'voting', number: before + 1 })
    await again.catchUp(adoptAll(missed))
    ledger.losePower()
    expect(missed()).toEqual([])
    await stop()
  })

  test('an engine that stopped takes nothing', async () => {
    const { engine, missed, stop } = await straggler(4_000)
    const { promise, resolve } = Promise.withResolvers<void>()
    const work = engine.catchUp(async adopt => {
      await promise
      await adoptAll(missed)(adopt)
    })
    const rejected = expect(work).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    await settle()
    await engine.stop()
    resolve()
    await rejected
    await expect(engine.catchUp(async () => {})).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
    await stop()
  })
})
