import { delayUntil } from '@tandem/base/async/delay.ts'
import { describe, expect, test } from 'vitest'
import { certificateFault } from '../../../src/consensus/certificate.ts'
import { nullNetwork } from '../../../src/consensus/ports.ts'
import { recoverAddress } from '../../../src/crypto/signature.ts'
import { settle } from '../../support/consensus/manual-clock.ts'
import { committeeOf, createMember, DOMAIN } from '../../support/consensus/member.ts'
import { alone } from './alone.ts'

describe('a committee of one', () => {
  test('seals a block each second, aligned to the second, and each child carries the certificate of its parent', async () => {
    const { clock, ledger, engine, errors } = await alone()
    await engine.start()
    await clock.advance(10_400)
    expect(ledger.blocks).toHaveLength(11)
    const times = ledger.blocks.map(({ block }) => block.header.timestamp)
    expect(times).toEqual(times.map((_, index) => times[0]! + index))
    const committee = committeeOf(1)
    for (const { block, certificate } of ledger.blocks) {
      const sealed = { number: block.header.number, blockHash: block.hash }
      expect(certificateFault(certificate, sealed, committee, DOMAIN, recoverAddress)).toBeNull()
      expect(certificate.round).toBe(0)
    }
    expect(errors).toEqual([])
    expect(engine.status()).toMatchObject({ mode: 'voting', number: 12, round: 0, committeeSize: 1, decided: 11 })
    await engine.stop()
  })

  test('needs two syncs a height: one of the log, one of the watermark', async () => {
    const { clock, files, engine, ledger } = await alone()
    await engine.start()
    await clock.advance(2_000)
    const before = files.syncs
    const blocks = ledger.blocks.length
    await clock.advance(10_000)
    expect(ledger.blocks.length - blocks).toBe(10)
    expect(files.syncs - before).toBe(20)
    await engine.stop()
  })

  test('keeps a block time of parts of a second, with equal timestamps inside a second', async () => {
    const { clock, ledger, engine } = await alone({ blockTimeMs: 200 })
    await engine.start()
    await clock.advance(2_000)
    expect(ledger.blocks).toHaveLength(11)
    const times = ledger.blocks.map(({ block }) => block.header.timestamp)
    expect(times.at(-1)! - times[0]!).toBe(2)
    await engine.stop()
  })

  test('blocks come on the second whatever they take to build: they are begun earlier', async () => {
    const { clock, ledger, engine } = await alone()
    ledger.nowMs = () => clock.nowMs()
    ledger.slowness = () => delayUntil(clock, clock.nowMs() + 20 + ((ledger.built * 37) % 60)).over
    await engine.start()
    await clock.advance(12_900)
    const late = ledger.committedMs.map(atMs => atMs % 1_000)
    expect(late).toHaveLength(13)
    expect(Math.min(...late.slice(0, 2))).toBeGreaterThanOrEqual(20)
    // One of them may be the slowest so far.
    expect(late.slice(3).filter(ms => ms > 0).length).toBeLessThanOrEqual(2)
    const { timestamp } = ledger.blocks.at(-1)!.block.header
    expect(timestamp * 1_000).toBeLessThanOrEqual(ledger.committedMs.at(-1)!)
    // The wait for its time is not what a decision took.
    expect(engine.status().lastDecisionMs).toBeLessThan(100)
    await engine.stop()
  })

  test('a development chain builds a block at its time, so that it has all transactions until then, whatever earlier ones took', async () => {
    const { clock, ledger, engine } = await alone({ isDevelopment: true })
    const begunMs: number[] = []
    ledger.slowness = () => {
      begunMs.push(clock.nowMs() % 1_000)
      return delayUntil(clock, clock.nowMs() + 100).over
    }
    await engine.start()
    await clock.advance(5_900)
    expect(begunMs).toEqual([0, 0, 0, 0, 0, 0])
    await engine.stop()
  })

  test('blocks come on the second whatever the disk takes: they are logged earlier', async () => {
    const { clock, files, ledger, engine } = await alone()
    ledger.nowMs = () => clock.nowMs()
    files.slowness = () => delayUntil(clock, clock.nowMs() + 20 + ((files.syncs * 37) % 60)).over
    await engine.start()
    // Before the next one is being logged: a stop waits for the disk.
    await clock.advance(12_800)
    const late = ledger.committedMs.map(atMs => atMs % 1_000)
    expect(late).toHaveLength(13)
    expect(late.slice(3).filter(ms => ms > 0).length).toBeLessThanOrEqual(2)
    expect(engine.status().lastDecisionMs).toBeLessThan(100)
    files.slowness = async () => {}
    await engine.stop()
  })

  test('what it says does not leave before its time', async () => {
    const saidMs: number[] = []
    const network = { ...nullNetwork, broadcast: () => void saidMs.push(clock.nowMs()) }
    const { clock, ledger, engine } = await alone({ network })
    ledger.slowness = () => delayUntil(clock, clock.nowMs() + 50).over
    await engine.start()
    await clock.advance(8_900)
    // It learns from the first ones how long they take.
    const seconds = saidMs.slice(saidMs.length / 2).map(ms => ms % 1_000)
    expect(new Set(seconds)).toEqual(new Set([0]))
    await engine.stop()
  })

  test('instant mode: a block asked for a time is not there before, and a stop waits for none', async () => {
    const { clock, ledger, engine } = await alone({ blockTimeMs: 0 })
    ledger.nowMs = () => clock.nowMs()
    await engine.start()
    const dueMs = clock.nowMs() + 500
    engine.requestBlock(dueMs)
    await clock.advance(499)
    expect([ledger.built, ledger.blocks.length]).toEqual([1, 0])
    await clock.advance(1)
    expect(ledger.committedMs).toEqual([dueMs])
    engine.requestBlock(clock.nowMs() + 500)
    await settle()
    await engine.stop()
    expect([ledger.built, ledger.blocks.length]).toEqual([2, 1])
  })

  test('instant mode: a block for each request, none otherwise, and those that came meanwhile at once', async () => {
    const { clock, ledger, engine } = await alone({ blockTimeMs: 0 })
    await engine.start()
    await clock.advance(60_000)
    expect(ledger.blocks).toHaveLength(0)
    engine.requestBlock()
    await settle()
    expect(ledger.blocks).toHaveLength(1)
    await clock.advance(60_000)
    expect(ledger.blocks).toHaveLength(1)
    // Blocks without transactions do not breed more of themselves, though the pool asks for two.
    ledger.wanted = 2
    engine.requestBlock()
    await settle()
    expect(ledger.blocks).toHaveLength(2)
    // A request during a build is not lost.
    ledger.wanted = 2
    engine.requestBlock()
    engine.requestBlock()
    await settle()
    expect(ledger.blocks).toHaveLength(4)
    await engine.stop()
  })

  test('a failed build is tried again in the next round', async () => {
    const { clock, ledger, engine } = await alone()
    ledger.failBuild = new Error('pool')
    await engine.start()
    await clock.advance(900)
    ledger.failBuild = null
    await clock.advance(2_000)
    expect(ledger.blocks[0]?.certificate.round).toBe(1)
    expect(engine.status().roundChanges).toBeGreaterThan(0)
    await engine.stop()
  })

  test('stops for good when a commit fails', async () => {
    const { clock, ledger, engine, errors } = await alone()
    await engine.start()
    await clock.advance(1_500)
    ledger.failCommit = new Error('disk full')
    await clock.advance(5_000)
    expect(errors).toEqual([ledger.failCommit])
    expect(engine.status().mode).toBe('failed')
    const built = ledger.built
    await clock.advance(10_000)
    expect(ledger.built).toBe(built)
    await engine.stop()
  })

  test('a stop waits for the block that is being built: what it stands on may be closed afterwards', async () => {
    const { clock, ledger, engine } = await alone()
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const build = ledger.build.bind(ledger)
    ledger.build = async request => {
      await gate
      return build(request)
    }
    await engine.start()
    await clock.advance(1_500)
    let stopped = false
    const stopping = engine.stop().then(() => {
      stopped = true
    })
    await settle()
    expect(stopped).toBe(false)
    open()
    await stopping
    expect([ledger.built, ledger.blocks.length]).toEqual([1, 0])
  })

  test('stops while it is waiting, and goes on where it was', async () => {
    const { clock, files, ledger, engine } = await alone()
    await engine.start()
    await clock.advance(3_500)
    await engine.stop()
    const blocks = ledger.blocks.length
    await clock.advance(3_000)
    expect(ledger.blocks).toHaveLength(blocks)
    const again = await createMember({ index: 0, size: 1, clock, files, ledger })
    await again.engine.start()
    await clock.advance(2_000)
    expect(ledger.blocks.length).toBeGreaterThan(blocks + 1)
    await again.engine.stop()
  })
})
