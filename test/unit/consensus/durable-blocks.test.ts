import { expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import { createMember } from '../../support/consensus/member.ts'
import { alone } from './alone.ts'

test('a block is the head before it is on disk; the one after it is not', async () => {
  const { clock, ledger, engine } = await alone()
  await engine.start()
  await clock.advance(3_000)
  const disk = Promise.withResolvers<void>()
  ledger.slowDisk = () => disk.promise
  const before = ledger.blocks.length
  await clock.advance(5_000)
  expect([ledger.blocks.length, ledger.durable]).toEqual([before + 1, before])
  disk.resolve()
  await clock.advance(2_000)
  expect(ledger.durable).toBeGreaterThan(before + 1)
  await engine.stop()
})

test('what the machine lost of the database is in the log', async () => {
  const { clock, files, ledger, engine } = await alone()
  await engine.start()
  await clock.advance(3_000)
  ledger.slowDisk = () => new Promise(() => {})
  await clock.advance(5_000)
  const [last] = ledger.blocks.slice(-1)
  const number = ledger.blocks.length
  files.crashNow()
  ledger.losePower()
  expect(ledger.blocks).not.toContain(last)
  files.recover(bytes => bytes)
  ledger.slowDisk = async () => {}
  const again = await createMember({ index: 0, size: 1, clock, files, ledger })
  await again.engine.start()
  expect(ledger.blocks[number - 1]?.block.hash).toBe(last?.block.hash)
  // The next one was decided, and waited for the disk.
  expect(ledger.blocks).toHaveLength(number + 1)
  expect(ledger.durable).toBe(ledger.blocks.length)
  expect(again.engine.status().mode).toBe('voting')
  await again.engine.stop()
})

test('a log does not begin anew after a block that is not on disk', async () => {
  const { clock, files, ledger, engine } = await alone()
  await engine.start()
  // As many blocks as fill half of the log.
  const { build } = ledger
  ledger.build = async request => {
    const block = await build.call(ledger, request)
    return { ...block, proofHeaders: [new Uint8Array(CONSENSUS_LIMITS.walBytes / 8)] }
  }
  const lengths: number[] = []
  for (let blocks = 0; blocks < 12; blocks++) {
    const disk = Promise.withResolvers<void>()
    ledger.slowDisk = () => disk.promise
    await clock.advance(1_000)
    const before = files.content('wal')?.byteLength ?? 0
    lengths.push(before)
    disk.resolve()
    await clock.advance(0)
    if ((files.content('wal')?.byteLength ?? 0) < before) expect(ledger.durable).toBe(ledger.blocks.length)
  }
  expect(
    lengths.some((length, at) => at > 0 && length < (lengths[at - 1] ?? 0)),
    'it began anew',
  ).toBe(true)
  await engine.stop()
})

test('a disk that fails ends the engine', async () => {
  const { clock, ledger, engine, errors } = await alone()
  await engine.start()
  await clock.advance(2_000)
  ledger.failFlush = new Error('no space')
  await clock.advance(3_000)
  expect(engine.status().mode).toBe('failed')
  expect(errors.map(({ message }) => message)).toEqual(['no space'])
  await engine.stop()
})
