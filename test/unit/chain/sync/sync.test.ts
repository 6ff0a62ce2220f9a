import { describe, expect, test } from 'vitest'
import { BlockSync, type BlockSyncOptions } from '../../../../src/chain/sync/sync.ts'
import { LIMITS } from '../../../../src/config/limits.ts'
import { nullNetwork } from '../../../../src/consensus/ports.ts'
import { recoverAddress } from '../../../../src/crypto/signature.ts'
import type { Peer } from '../../../../src/network/peer/peer.ts'
import type { Answered, AskOptions } from '../../../../src/network/peer/requester.ts'
import type { SealedBlock } from '../../../../src/network/wire/consensus.ts'
import type { BlockRange } from '../../../../src/network/wire/sync.ts'
import { encodeBlock } from '../../../../src/primitives/block.ts'
import { CodedError } from '../../../../src/util/errors.ts'
import { silentLogger } from '../../../../src/util/logger.ts'
import { Ledger } from '../../../support/consensus/ledger.ts'
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
  readonly head: number
  readonly answer?: (range: BlockRange) => readonly SealedBlock[]
}

const honest = ({ from, count }: BlockRange, most = count): readonly SealedBlock[] =>
  CHAIN.slice(from - 1, from - 1 + Math.min(count, most)).map(({ block }) => sealedAt(block.header.number))

/** Peers in memory, asked one after the other as the requester does. */
class Neighbours {
  readonly liars: string[] = []
  readonly asked: (BlockRange & { readonly peer: string })[] = []
  underWay = 0
  mostUnderWay = 0
  readonly #list: readonly Neighbour[]

  constructor(list: readonly Neighbour[]) {
    this.#list = list
  }

  readonly port: BlockSyncOptions['network'] = {
    peers: () => this.#list.map(({ head }) => ({ head: { number: head } })) as never,
    reportFalsehood: peer => void this.liars.push(peer),
    request: (async (_: 'getBlocks', range: BlockRange, { among, judge }: AskOptions<'getBlocks'>) => {
      this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay)
      await settle(1)
      this.underWay--
      for (const { id, head, answer = honest } of this.#list) {
        const peer = { id, head: { number: head }, earliest: 0 } as Peer
        if (this.liars.includes(id) || among?.(peer) === false) continue
        this.asked.push({ ...range, peer: id })
        const blocks = answer(range)
        if (judge?.(blocks) === 'good') return { answer: blocks, from: id } satisfies Answered<'getBlocks'>
      }
      throw new CodedError({ code: 'NO_PEER', request: 'getBlocks' })
    }) as never,
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
  const neighbours = new Neighbours(list)
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
    expect(neighbours.mostUnderWay).toBeLessThanOrEqual(LIMITS.sync.parallel)
    await stop()
  })

  test('whoever sends false blocks is named, and they come from another', async () => {
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
    expect(new Set(neighbours.liars)).toEqual(new Set(['liar']))
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
    expect(neighbours.liars).toContain('liar')
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

  test('a peer that boasts moves nothing and does not take the engine out of its height', async () => {
    const { clock, ledger, neighbours, engine, sync, stop } = await follower([
      { id: 'boaster', head: 1_000_000, answer: () => [] },
    ])
    sync.start()
    await clock.advance(30_000)
    expect(ledger.head().number).toBe(0)
    expect(sync.status).toBe(false)
    expect(engine.status().isIdle).toBe(true)
    // Three attempts, then longer and longer pauses.
    expect(neighbours.asked.length).toBeLessThan(100)
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

  test('one that boasts while others help ends the try, and what they have comes', async () => {
    const list = [
      { id: 'boaster', head: 1_000_000, answer: () => [] },
      { id: 'b', head: 300 },
    ]
    const { sync, ledger, engine, reach, stop } = await follower(list)
    sync.start()
    await reach(300)
    await settle(10)
    expect(engine.status().number).toBe(ledger.head().number + 1)
    await stop()
  })

  test('a member is left to its engine while it is near, for a while', async () => {
    const list: Neighbour[] = [{ id: 'a', head: 2 }]
    const { clock, ledger, sync, reach, stop } = await follower(list, { isMember: () => true })
    sync.start()
    await clock.advance(LIMITS.sync.patienceMs - 500)
    expect(ledger.head().number).toBe(0)
    await reach(2)
    await stop()
  })
})
