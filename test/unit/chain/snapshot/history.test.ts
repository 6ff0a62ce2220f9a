import { bytesToHex, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test, vi } from 'vitest'
import { emptyBlock } from '../../../../devtools/sim/block.ts'
import { HistoryBackfill } from '../../../../src/chain/snapshot/backfill/history-backfill.ts'
import { type HistoryTip, tipBelow, writeHistory } from '../../../../src/chain/snapshot/backfill/history-rows.ts'
import { startHistoryWorker } from '../../../../src/chain/snapshot/workers.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { readEarliestBlock, requireHistory } from '../../../../src/chain/store/earliest-block.ts'
import { SNAPSHOT_LIMITS } from '../../../../src/config/limits/sync.ts'
import type { DecidedBlock } from '../../../../src/consensus/ports.ts'
import { blockFromParts, encodeBlock } from '../../../../src/primitives/block.ts'
import { type Certificate, encodeCertificate } from '../../../../src/primitives/consensus/certificate.ts'
import { EMPTY_ROOT } from '../../../../src/state/account.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import type { Store } from '../../../../src/storage/store.ts'
import { WriteLatch } from '../../../../src/storage/write-latch.ts'
import { GENESIS_HASH } from '../../../support/consensus/ledger.ts'
import { ManualClock } from '../../../support/consensus/manual-clock.ts'
import { seal } from '../../../support/consensus/sealed-chain.ts'
import { temporaryStore } from '../../storage/temp-store.ts'

/** Empty blocks with the roots that empty blocks have. */
const emptyChain = (length: number): readonly DecidedBlock[] => {
  const chain: DecidedBlock[] = []
  let parent: { readonly hash: Hex; readonly certificate: Certificate | null } = {
    hash: GENESIS_HASH,
    certificate: null,
  }
  for (let number = 1; number <= length; number++) {
    const extra = { proposer: ZERO_ADDRESS, parentCertificate: parent.certificate }
    const { header } = emptyBlock({ number, parentHash: parent.hash, timestamp: number }, extra)
    const block = blockFromParts(
      { ...header, receiptsRoot: EMPTY_ROOT },
      { transactions: [], proofHeaders: [], evidence: [] },
    )
    const certificate = seal(block, [0, 1, 2, 3])
    chain.push({ block, certificate })
    parent = { hash: block.hash, certificate }
  }
  return chain
}

const CHAIN = emptyChain(200)
const NO_RECEIPTS = Uint8Array.of(0xc0)

const tipAt = (number: number): HistoryTip => {
  const { block, certificate } = CHAIN[number - 1]!
  return { number, hash: block.hash, certificate }
}
const encoded = (from: number, to: number) => CHAIN.slice(from - 1, to).map(({ block }) => encodeBlock(block))
const plain = ({ certificate, ...rest }: HistoryTip) => ({
  ...rest,
  certificate: bytesToHex(encodeCertificate(certificate)),
})
const rangeOf = (from: number, to: number) => {
  const blocks = encoded(from, to)
  return { blocks, receipts: blocks.map(() => NO_RECEIPTS) }
}

describe('blocks before a snapshot', () => {
  test('are stored from the newest down, with the certificates that their children have of them', async () => {
    const store = await temporaryStore()
    const next = await writeHistory(store, rangeOf(120, 200), tipAt(200))
    expect(plain(next)).toEqual(plain(tipAt(119)))
    expect(await readEarliestBlock(store)).toBe(120)
    expect(plain((await tipBelow(store, 120))!)).toEqual(plain(tipAt(119)))
    expect((await writeHistory(store, rangeOf(1, 119), next)).number).toBe(0)
    expect(await readEarliestBlock(store)).toBe(0)
    const blocks = new BlockStore(store)
    for (const number of [1, 2, 119, 120, 200]) {
      expect((await blocks.block(number))?.hash).toBe(CHAIN[number - 1]!.block.hash)
      const certificate = (await blocks.certificate(number))!
      expect(plain({ ...tipAt(number), certificate })).toEqual(plain(tipAt(number)))
      expect(await blocks.receipts(number)).toEqual([])
    }
  })

  test('are refused when one is another, changed, left out or in another place, and when receipts are not those of the block', async () => {
    const store = await temporaryStore()
    const { blocks, receipts } = rangeOf(50, 60)
    const other = encoded(70, 70)[0]!
    const changed = Uint8Array.from(blocks[4]!)
    changed[changed.length - 1]! ^= 1
    const lies = [
      blocks.with(4, other),
      blocks.with(4, changed),
      blocks.toSpliced(4, 1),
      blocks.toReversed(),
      blocks.with(10, Uint8Array.of(1)),
    ]
    for (const lie of lies)
      await expect(writeHistory(store, { blocks: lie, receipts }, tipAt(60))).rejects.toMatchObject({
        code: 'SNAPSHOT_FALSE',
      })
    for (const lie of [Uint8Array.of(0xc1, 0xc0), Uint8Array.of(0xc1, 0x80), Uint8Array.of(7), new Uint8Array(0)])
      await expect(writeHistory(store, { blocks, receipts: receipts.with(3, lie) }, tipAt(60))).rejects.toMatchObject({
        code: 'RECEIPTS_FALSE',
      })
    expect(await new BlockStore(store).block(60)).toBeUndefined()
  })

  test('missing ones are reported as missing, genesis never is', () => {
    expect(() => requireHistory(100, 99)).toThrow('HISTORY_MISSING')
    expect(() => requireHistory(100, 0, 500)).toThrow('HISTORY_MISSING')
    requireHistory(100, 0)
    requireHistory(100, 100, 200)
    requireHistory(0, 1)
  })
})

interface Neighbour {
  readonly id: string
  blocks(from: number, count: number): readonly Uint8Array[]
}

const honest: Neighbour['blocks'] = (from, count) => encoded(from, from + count - 1)

const fillFrom = async (
  store: Store,
  list: readonly Neighbour[],
  choose = (sound: readonly Neighbour[]): Neighbour | undefined => sound[0],
) => {
  const clock = new ManualClock()
  const liars: string[] = []
  const blocks = new BlockStore(store)
  blocks.earliest = await readEarliestBlock(store)
  const network = {
    reportForgery: (peer: string) => void liars.push(peer),
    request: async (_: string, { from, count }: { from: number; count: number }) => {
      const peer = choose(list.filter(({ id }) => !liars.includes(id)))
      if (peer === undefined) throw new CodedError({ code: 'NO_PEER', request: 'getBlocks' })
      const answer = peer.blocks(from, count).map(block => ({ block, certificate: CHAIN[0]!.certificate }))
      return { answer, from: peer.id }
    },
  }
  const methods = {
    tip: async () => (await tipBelow(store, await readEarliestBlock(store))) ?? null,
    put: (range: Parameters<typeof writeHistory>[1], tip: HistoryTip) => writeHistory(store, range, tip),
  }
  const thread = {
    call: (name: keyof typeof methods, ...args: never[]) => (methods[name] as (...all: never[]) => unknown)(...args),
    close: async () => {},
  }
  const fill = new HistoryBackfill({
    start: () => 0,
    network: network as never,
    thread: thread as never,
    blocks,
    clock,
    logger: silentLogger,
  })
  fill.start()
  await expect.poll(() => clock.advance(SNAPSHOT_LIMITS.retryMs).then(() => blocks.earliest), { interval: 2 }).toBe(0)
  await fill.stop()
  return { liars, blocks }
}

describe('the fetching of blocks before a snapshot', () => {
  const begun = async () => {
    const store = await temporaryStore()
    await writeHistory(store, rangeOf(180, 200), tipAt(200))
    return store
  }

  test('goes down to the first, also by short answers', async () => {
    const store = await begun()
    const { blocks, liars } = await fillFrom(store, [
      { id: 'a', blocks: (from, count) => honest(from, Math.min(count, 9)) },
    ])
    expect([blocks.earliest, liars]).toEqual([0, []])
    expect((await blocks.block(1))?.hash).toBe(CHAIN[0]!.block.hash)
  })

  test.each([2, 4])('one of %i peers that answers with a single block does not set the pace', async peers => {
    const store = await begun()
    let requests = 0
    const all = Array.from({ length: peers }, (_, index): Neighbour => {
      return { id: String(index), blocks: (from, count) => honest(from, index === 0 ? 1 : count) }
    })
    const random = createRandom(peers)
    const choose = (sound: readonly Neighbour[]) => {
      requests++
      return sound[random.below(sound.length)]
    }
    const { blocks, liars } = await fillFrom(store, all, choose)
    expect([blocks.earliest, liars]).toEqual([0, []])
    // 180 blocks are three requests; one more for each that the short one gets.
    expect(requests).toBeLessThan(10)
  })

  test('of a range from several peers only the sender of a false block is named', async () => {
    const turns = ['a', 'liar', 'b']
    // Its last block has the right number and parent, and another hash.
    const lie: Neighbour['blocks'] = (from, count) => {
      const part = Math.min(count, 5)
      const { header, ...body } = CHAIN[from + part - 2]!.block
      const forged = blockFromParts({ ...header, timestamp: 999_999 }, body)
      return honest(from, part).with(-1, encodeBlock(forged))
    }
    const { blocks, liars } = await fillFrom(
      await begun(),
      [
        { id: 'a', blocks: (from, count) => honest(from, Math.min(count, 5)) },
        { id: 'liar', blocks: lie },
        { id: 'b', blocks: honest },
      ],
      sound => {
        const next = turns.shift()
        return sound.find(({ id }) => id === next) ?? sound.at(-1)
      },
    )
    expect([blocks.earliest, [...new Set(liars)]]).toEqual([0, ['liar']])
  })

  test('its thread and the main thread write one at a time, and nothing after a failed write of either', async () => {
    const reasons: string[] = []
    const store = await temporaryStore({ onWriteFailed: error => reasons.push(error.message) })
    await writeHistory(store, rangeOf(180, 200), tipAt(200))
    const worker = startHistoryWorker(store)
    const row = () => store.batch().put(BUCKETS.code, Uint8Array.of(1), Uint8Array.of(2)).write()
    const [tip] = await Promise.all([worker.call('put', rangeOf(120, 179), tipAt(179)), row(), row()])
    expect([tip.number, await readEarliestBlock(store)]).toEqual([119, 120])
    // As a failed write of any thread leaves the memory.
    const failing = new WriteLatch({ memory: store.share().latch })
    await expect(failing.write(() => Promise.reject(new Error('no space left')))).rejects.toThrow()
    const refused = { code: 'STORE_WRITE_FAILED', reason: 'no space left' }
    await expect(worker.call('put', rangeOf(100, 119), tipAt(119))).rejects.toMatchObject({ detail: refused })
    await expect(row()).rejects.toMatchObject({ detail: refused })
    await expect.poll(() => reasons).toEqual([expect.stringContaining('no space left')])
    await worker.close()
  })

  test('a stop lets its thread end the write that it has begun: the main thread still writes', async () => {
    const store = await temporaryStore()
    await writeHistory(store, rangeOf(180, 200), tipAt(200))
    const blocks = new BlockStore(store)
    blocks.earliest = 180
    const network = {
      request: async (_: string, { from, count }: { from: number; count: number }) => {
        const answer = honest(from, count).map(block => ({ block, certificate: CHAIN[0]!.certificate }))
        return { answer, from: 'a' }
      },
    }
    const thread = startHistoryWorker(store)
    const put = vi.spyOn(thread, 'call')
    const fill = new HistoryBackfill({
      start: () => 0,
      network: network as never,
      thread,
      blocks,
      clock: new ManualClock(),
      logger: silentLogger,
    })
    const before = Promise.withResolvers<void>()
    const latch = new WriteLatch({ memory: store.share().latch })
    const mine = latch.write(() => before.promise)
    fill.start()
    // It has been given the blocks, and waits for its turn, which it takes when this one is over.
    await expect.poll(() => put.mock.calls.some(([name]) => name === 'put')).toBe(true)
    const stopped = fill.stop()
    before.resolve()
    await Promise.all([mine, stopped])
    expect(thread.isOpen).toBe(false)
    await store.batch().put(BUCKETS.code, Uint8Array.of(1), Uint8Array.of(2)).write()
    expect(blocks.earliest).toBeLessThan(180)
    expect(await readEarliestBlock(store)).toBe(blocks.earliest)
  })

  test('names who sends false ones, and goes on with others', async () => {
    const lie: Neighbour['blocks'] = (from, count) => honest(from, count).with(0, encoded(150, 150)[0]!)
    const { blocks, liars } = await fillFrom(await begun(), [
      { id: 'liar', blocks: lie },
      { id: 'b', blocks: honest },
    ])
    expect([blocks.earliest, [...new Set(liars)]]).toEqual([0, ['liar']])
  })
})
