import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { BlockSync } from '../../../../src/chain/sync/block-sync.ts'
import type { BlockSyncOptions } from '../../../../src/chain/sync/sync-run.ts'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'
import { SYNC_LIMITS } from '../../../../src/config/limits/sync.ts'
import { nullNetwork } from '../../../../src/consensus/ports.ts'
import { recoverAddress } from '../../../../src/crypto/signature.ts'
import type { SealedBlock } from '../../../../src/network/messages/consensus-messages.ts'
import type { BlockRange } from '../../../../src/network/messages/sync-messages.ts'
import type { Peer } from '../../../../src/network/peer/peer.ts'
import type { PeerAnswer, RequestOptions } from '../../../../src/network/peer/requester.ts'
import { encodeBlock } from '../../../../src/primitives/block.ts'
import { GENESIS_HASH, Ledger } from '../../../support/consensus/ledger.ts'
import { ManualClock, settle } from '../../../support/consensus/manual-clock.ts'
import { createMember, DOMAIN } from '../../../support/consensus/member.ts'
import { MemoryFiles } from '../../../support/consensus/memory-files.ts'
import { committeeFrom, sealedChain } from '../../../support/consensus/sealed-chain.ts'

const CHAIN = sealedChain(300, () => [0, 1, 2, 3])

const sealedAt = (number: number): SealedBlock => {
  const { block, certificate } = CHAIN[number - 1]!
  return { block: encodeBlock(block), certificate }
}

interface Neighbour {
  readonly id: string
  head: number
  readonly place?: Peer['place']
  readonly answer?: (range: BlockRange) => readonly SealedBlock[]
  /** How long it takes for an answer. */
  delayMs?: number
}

const honest = ({ from, count }: BlockRange, most = count): readonly SealedBlock[] =>
  CHAIN.slice(from - 1, from - 1 + Math.min(count, most)).map(({ block }) => sealedAt(block.header.number))

/** Peers in memory, asked one after the other as the requester does; each answer takes a turn or the time it is given. */
class Neighbours {
  readonly reported: string[] = []
  readonly useless: string[] = []
  readonly asked: (BlockRange & { readonly peer: string })[] = []
  underWay = 0
  mostUnderWay = 0
  readonly #list: readonly Neighbour[]
  readonly #clock: ManualClock
  readonly #open = new Map<string, number>()

  constructor(list: readonly Neighbour[], clock: ManualClock) {
    this.#list = list
    this.#clock = clock
  }

  readonly port: BlockSyncOptions['network'] = {
    peers: () =>
      this.#list.map(({ id, head, place }) => ({ id, ...(place && { place }), head: { number: head, hash: '0x' } })),
    reportForgery: peer => void this.reported.push(peer),
    request: (async (_: 'getBlocks', range: BlockRange, options: RequestOptions<'getBlocks'>) => {
      this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay)
      try {
        return await this.#ask(range, options)
      } finally {
        this.underWay--
      }
    }) as never,
  }

  async #ask(
    range: BlockRange,
    { among, validate, watch }: RequestOptions<'getBlocks'>,
  ): Promise<PeerAnswer<'getBlocks'>> {
    for (const neighbour of this.#list) {
      const { id, head, delayMs } = neighbour
      const { answer = ({ from, count }) => honest({ from, count }, head + 1 - from) } = neighbour
      const open = this.#open.get(id) ?? 0
      const peer = { id, head: { number: head }, earliest: 0 } as Peer
      if (this.reported.includes(id) || open >= NETWORK_LIMITS.serving || among?.(peer) === false) continue
      this.asked.push({ ...range, peer: id })
      watch?.(id, 'asked')
      this.#open.set(id, open + 1)
      await (delayMs === undefined ? settle(1) : this.#after(delayMs))
      this.#open.set(id, (this.#open.get(id) as number) - 1)
      const blocks = answer(range)
      const answerVerdict = validate?.(blocks, open === 0) ?? 'good'
      watch?.(id, answerVerdict)
      if (answerVerdict === 'good') return { answer: blocks, from: id }
      if (answerVerdict === 'false') this.useless.push(id)
    }
    throw new CodedError({ code: 'NO_PEER', request: 'getBlocks' })
  }

  #after(ms: number): Promise<void> {
    return new Promise(resolve => this.#clock.schedule(this.#clock.nowMs() + ms, resolve))
  }
}

const follower = async (list: readonly Neighbour[], overrides: Partial<BlockSyncOptions> = {}) => {
  const clock = new ManualClock()
  const ledger = new Ledger()
  const { engine, errors } = await createMember({
    index: 0,
    size: 4,
    clock,
    files: new MemoryFiles(),
    ledger,
    network: nullNetwork,
    overrides: { signer: null },
  })
  await engine.start()
  const neighbours = new Neighbours(list, clock)
  const committee = committeeFrom([0, 1, 2, 3])
  const sync = new BlockSync({
    network: neighbours.port,
    engine,
    head: () => ledger.head(),
    committees: { committee: () => committee },
    isMember: () => false,
    rules: { domain: DOMAIN, recover: recoverAddress, certificates: 'tips' },
    withSenders: async block => ({ ...block, transactions: [] }),
    clock,
    logger: silentLogger,
    ...overrides,
  })
  /** Until a number is reached; time goes on by the milliseconds a failed request waits. */
  const reach = async (number: number): Promise<void> => {
    for (let turn = 0; turn < 400 && ledger.head().number < number; turn++) await clock.advance(100)
    expect(ledger.head().number).toBe(number)
  }
  const stop = async (): Promise<void> => {
    await sync.stop()
    await engine.stop()
  }
  return { clock, ledger, engine, errors, neighbours, sync, committee, reach, stop }
}

describe('the head to reach', () => {
  const strangers = ['x', 'y', 'z'].map(id => ({ id, head: 1_000_000_000, answer: () => [] }))

  test('is told by a member or a static peer, whatever strangers claim', async () => {
    const { sync, stop } = await follower([...strangers, { id: 'a', head: 40, place: 'reserved' }])
    expect(sync.provenTarget).toBe(40)
    await stop()
  })

  test('is told by no stranger before its blocks proved final', async () => {
    const { sync, reach, stop } = await follower([...strangers, { id: 'a', head: 40 }])
    expect(sync.provenTarget).toBeUndefined()
    sync.start()
    await reach(40)
    expect(sync.provenTarget).toBe(40)
    await stop()
  })
})

describe('catching up by ranges', () => {
  test('hundreds of blocks come in ranges side by side, and are imported in order with their certificates', async () => {
    const { ledger, neighbours, sync, reach, stop, errors } = await follower([{ id: 'a', head: 300 }])
    sync.start()
    await reach(300)
    expect(ledger.blocks.map(({ block }) => block.hash)).toEqual(CHAIN.map(({ block }) => block.hash))
    expect(ledger.blocks.map(({ certificate }) => certificate)).toEqual(CHAIN.map(({ certificate }) => certificate))
    expect(neighbours.asked.map(({ from }) => from)).toEqual([1, 129, 257])
    expect(neighbours.mostUnderWay).toBe(3)
    expect(errors).toEqual([])
    await stop()
  })

  test('short answers are made up for', async () => {
    const { neighbours, sync, reach, stop } = await follower([
      { id: 'a', head: 300, answer: range => honest(range, 40) },
    ])
    sync.start()
    await reach(300)
    expect(neighbours.mostUnderWay).toBeLessThanOrEqual(SYNC_LIMITS.parallel)
    await stop()
  })

  test('the sender of false blocks is reported, and another peer is asked', async () => {
    const lie = (range: BlockRange) => {
      const blocks = [...honest(range)]
      blocks[5] = sealedAt(1)
      return blocks
    }
    const list = [
      { id: 'liar', head: 300, answer: lie },
      { id: 'b', head: 300 },
    ]
    const { neighbours, sync, reach, stop } = await follower(list)
    sync.start()
    await reach(300)
    expect(new Set(neighbours.reported)).toEqual(new Set(['liar']))
    await stop()
  })

  test('a chain that a quorum sealed on another block blames no peer: its sender did not make it', async () => {
    const fork = sealedChain(300, () => [0, 1, 2, 3], GENESIS_HASH.replace('1', '2') as Hex)
    const answer = ({ from, count }: BlockRange) =>
      fork
        .slice(from - 1, from - 1 + count)
        .map(({ block, certificate }) => ({ block: encodeBlock(block), certificate }))
    const { ledger, clock, neighbours, sync, stop } = await follower([{ id: 'honest', head: 300, answer }])
    sync.start()
    await clock.advance(5_000)
    expect(ledger.head().number).toBe(0)
    expect(neighbours.reported).toEqual([])
    await stop()
  })

  test('bytes that are no block name their sender too', async () => {
    const list = [
      { id: 'liar', head: 300, answer: () => [{ ...sealedAt(1), block: Uint8Array.of(0xc1, 0x80) }] },
      { id: 'b', head: 300 },
    ]
    const { neighbours, sync, reach, stop } = await follower(list)
    sync.start()
    await reach(300)
    expect(neighbours.reported).toContain('liar')
    await stop()
  })

  test('a range that goes beyond the committees known is imported as far as they are', async () => {
    let head = () => 0
    const rig = await follower([{ id: 'a', head: 300 }], {
      committees: {
        committee: number => (number <= head() + 25 ? committeeFrom([0, 1, 2, 3]) : undefined),
      },
    })
    head = () => rig.ledger.head().number
    rig.sync.start()
    await rig.reach(300)
    await rig.stop()
  })

  test('a peer that boasts moves nothing, does not take the engine out of its height, and pays for it', async () => {
    const { clock, ledger, neighbours, engine, sync, stop } = await follower([
      { id: 'boaster', head: 1_000_000, answer: () => [] },
    ])
    sync.start()
    await clock.advance(29_000)
    expect(ledger.head().number).toBe(0)
    expect(sync.status).toBe(false)
    expect(engine.status().isIdle).toBe(true)
    // Held back for 2, 4, 8 and 16 s, asked for four pieces each time; only what it had nothing else to answer for counts against it.
    expect(neighbours.useless).toHaveLength(4)
    expect(neighbours.asked.length).toBeLessThanOrEqual(16)
    await stop()
  })

  test('its figures while it goes on, and nothing afterwards', async () => {
    const seen: unknown[] = []
    const rig = await follower([{ id: 'a', head: 300 }], {
      withSenders: async block => {
        seen.push(rig.sync.status)
        return { ...block, transactions: [] }
      },
    })
    rig.sync.start()
    await rig.reach(300)
    await settle()
    expect(seen.at(-1)).toMatchObject({ startingBlock: 0, highestBlock: 300 })
    expect(rig.sync.status).toBe(false)
    await rig.stop()
  })

  test('a stop does not wait for the range to end', async () => {
    const rig = await follower([{ id: 'a', head: 300 }], {
      withSenders: async block => {
        if (block.header.number === 40) void rig.sync.stop()
        return { ...block, transactions: [] }
      },
    })
    rig.sync.start()
    await rig.clock.advance(1_000)
    expect(rig.ledger.head().number).toBeGreaterThan(30)
    expect(rig.ledger.head().number).toBeLessThan(45)
    await rig.stop()
  })

  test.each([
    ['answers with nothing', {}],
    ['does not answer', { delayMs: 60_000 }],
  ])('a peer with a false head that %s does not stop the node from following others', async (_, how) => {
    const others: Neighbour = { id: 'b', head: 200 }
    const boaster = { id: 'boaster', head: 1_000_000, answer: () => [], ...how }
    const { sync, ledger, engine, clock, reach, stop } = await follower([boaster, others])
    sync.start()
    await reach(200)
    for (let number = 201; number <= 260; number++) {
      others.head = number
      sync.consider()
      await clock.advance(1_000)
      // In step, but for the second after which one that is silent is not waited for any more.
      expect(ledger.head().number).toBeGreaterThanOrEqual(number - 2)
      expect(sync.status).toBe(false)
    }
    await clock.advance(2_000)
    expect(ledger.head().number).toBe(260)
    expect(engine.status().number).toBe(261)
    await stop()
  })

  test('a member whose next range is slow goes back to its height, and leaves it again when the range comes', async () => {
    const slow: Neighbour = {
      id: 'a',
      head: 300,
      answer: range => {
        slow.delayMs = 5_000
        return honest(range, 100)
      },
    }
    const rig = await follower([slow], { isMember: () => true })
    rig.sync.start()
    await rig.clock.advance(SYNC_LIMITS.awayMs - 50)
    expect(rig.ledger.head().number).toBe(100)
    // Away: no height is open above the head.
    expect(rig.engine.status().number).toBe(100)
    await rig.clock.advance(100)
    expect(rig.engine.status().number).toBe(101)
    expect(rig.sync.status).toMatchObject({ currentBlock: 100, highestBlock: 300 })
    await rig.reach(300)
    expect(rig.errors).toEqual([])
    await rig.stop()
  })

  test('what the engine decided by itself meanwhile is not fetched', async () => {
    const slow: Neighbour = { id: 'a', head: 300, delayMs: 5_000 }
    const rig = await follower([slow], {})
    rig.sync.start()
    await rig.clock.advance(2_000)
    await rig.engine.catchUp(async adopt => {
      for (const decided of CHAIN.slice(0, 290)) await adopt(decided)
    })
    delete slow.delayMs
    await rig.reach(300)
    expect(rig.neighbours.asked.at(-1)?.from).toBe(291)
    expect(rig.errors).toEqual([])
    await rig.stop()
  })

  test('a late range is asked of another peer as well, and what comes late does no harm', async () => {
    const list = [
      { id: 'slow', head: 300, delayMs: 8_000 },
      { id: 'b', head: 300 },
    ]
    const { clock, ledger, sync, stop, errors } = await follower(list)
    sync.start()
    await clock.advance(6_000)
    expect(ledger.head().number).toBe(300)
    await clock.advance(30_000)
    expect(errors).toEqual([])
    await stop()
  })

  test('a member is left to its engine while it is near, for a while', async () => {
    const list: Neighbour[] = [{ id: 'a', head: 2 }]
    const { clock, ledger, sync, reach, stop } = await follower(list, { isMember: () => true })
    sync.start()
    await clock.advance(SYNC_LIMITS.patienceMs - 500)
    expect(ledger.head().number).toBe(0)
    await reach(2)
    await stop()
  })
})

describe('a block that is pushed', () => {
  const pushAt = (number: number, sealed = sealedAt(number)) => ({
    ...sealed,
    number,
    hash: CHAIN[number - 1]!.block.hash,
  })

  test('is adopted at once when it follows the head, without a request', async () => {
    const source: Neighbour = { id: 'a', head: 0 }
    const { ledger, neighbours, sync, engine, stop } = await follower([source])
    for (let number = 1; number <= 5; number++) {
      source.head = number
      await sync.pushed(pushAt(number), 'a')
      await settle()
      expect(ledger.head().number).toBe(number)
    }
    expect(engine.status().number).toBe(6)
    expect(neighbours.asked).toEqual([])
    await stop()
  })

  test('tells how far its sender is when it lies ahead', async () => {
    const { neighbours, sync, reach, stop } = await follower([{ id: 'a', head: 7 }])
    await sync.pushed(pushAt(7), 'a')
    await reach(7)
    expect(neighbours.asked.map(({ from, count }) => [from, count])).toEqual([[1, 7]])
    await stop()
  })

  test('that is false, or no block, names its sender and is not adopted', async () => {
    const list = [{ id: 'liar', head: 0 }]
    const { ledger, neighbours, sync, stop, clock } = await follower(list)
    const stranger = { ...sealedAt(1), certificate: CHAIN[1]!.certificate }
    await sync.pushed(pushAt(1, stranger), 'liar')
    await clock.advance(3_000)
    expect(neighbours.reported).toEqual(['liar'])
    await sync.pushed(pushAt(1, { ...sealedAt(1), block: Uint8Array.of(0xc1, 0x80) }), 'liar')
    expect(neighbours.reported).toEqual(['liar', 'liar'])
    expect(ledger.head().number).toBe(0)
    await stop()
  })

  test('reaches a run that waits for another peer', async () => {
    const { ledger, sync, clock, stop } = await follower([{ id: 'silent', head: 300, delayMs: 60_000 }])
    sync.start()
    await clock.advance(200)
    await sync.pushed(pushAt(1), 'other')
    await settle(5)
    expect(ledger.head().number).toBe(1)
    await stop()
  })

  test('is left to the engine of a member', async () => {
    const { ledger, sync, stop } = await follower([{ id: 'a', head: 1 }], { isMember: () => true })
    await sync.pushed(pushAt(1), 'a')
    await settle(5)
    expect(ledger.head().number).toBe(0)
    await stop()
  })
})
