import { expect, test } from 'vitest'
import type { SyncStatus } from '../../../src/chain/store/types.ts'
import type { EngineMode } from '../../../src/consensus/monitor/stats.ts'
import { createHealth, type PeersView } from '../../../src/node/health.ts'

const OWN = `0x${'aa'.repeat(32)}` as const
const FOREIGN = `0x${'bb'.repeat(32)}` as const

/** A node that stands at block 7 and hears of a block only when told. */
const node = (blockTimeMs: number, isAlone = false) => {
  let nowMs = 1_000_000
  let mode: EngineMode = 'voting'
  let sync: SyncStatus | false = false
  let committed = (): void => {}
  let view: PeersView = { count: 3, target: 7, proven: 7, foreignGenesis: undefined }
  const health = createHealth({
    chain: {
      headBlock: { header: { number: 7, timestamp: 1_000 }, hash: '0x07' } as never,
      onCommitted: listener => {
        committed = listener as never
        return () => {}
      },
    },
    engine: { status: () => ({ mode, round: 2 }) as never },
    blockTimeMs: () => blockTimeMs,
    syncing: () => sync,
    genesisHash: OWN,
    peers: () => view,
    isAlone: () => isAlone,
    clock: { nowMs: () => nowMs },
  })
  return {
    health,
    wait: (ms: number) => {
      nowMs += ms
    },
    set: (next: EngineMode) => {
      mode = next
    },
    commit: () => committed(),
    see: (next: Partial<PeersView>) => {
      view = { ...view, ...('target' in next && { proven: next.target }), ...next }
    },
    catchUp: (status: SyncStatus | false) => {
      sync = status
    },
  }
}
const SEEN = { number: 7, hash: '0x07', syncing: false, round: 2, peers: 3, target: 7 }
const HEALTHY = { healthy: true, mode: 'voting', ...SEEN }
const ill = (reason: string, mode: EngineMode = 'voting') => ({ healthy: false, reason, mode, ...SEEN })

test('silence is an illness where blocks come by the clock, and one block heals it', () => {
  const { health, wait, set, commit } = node(1_000)
  expect(health()).toEqual(HEALTHY)
  wait(15_001)
  expect(health()).toEqual(ill('no block for 15 s'))
  set('quarantined')
  expect(health().reason).toBe('no block for 15 s: the consensus log is missing or damaged, see the log')
  commit()
  expect(health(), 'a quarantined node follows the others').toEqual({ ...HEALTHY, mode: 'quarantined' })
})

test('a node that is far behind says so, also while blocks come fast', () => {
  const { health, catchUp } = node(1_000)
  catchUp({ startingBlock: 0, currentBlock: 7, highestBlock: 900 })
  expect(health()).toEqual({ ...ill('catching up with block 900'), syncing: true })
  catchUp(false)
  expect(health()).toEqual(HEALTHY)
})

test('in instant mode silence is none, but an engine that would make no block is', () => {
  const { health, wait, set } = node(0)
  wait(3_600_000)
  expect(health()).toEqual(HEALTHY)
  set('quarantined')
  expect(health()).toEqual(
    ill('consensus is quarantined: the consensus log is missing or damaged, see the log', 'quarantined'),
  )
})

test.each([0, 1_000])('an engine that stopped or failed is an illness at once (block time %i ms)', blockTimeMs => {
  const { health, set } = node(blockTimeMs)
  for (const mode of ['stopped', 'failed'] as const) {
    set(mode)
    expect(health()).toEqual(ill(`consensus is ${mode}`, mode))
  }
})

test('a new node is not healthy before the head of its peers is known and reached', () => {
  const { health, see } = node(1_000)
  see({ count: 0, target: undefined })
  expect(health()).toMatchObject({
    healthy: false,
    target: null,
    reason: expect.stringMatching(/^no peer is connected/),
  })
  see({ count: 1, target: 70 })
  expect(health()).toMatchObject({ healthy: false, target: 70, reason: '63 blocks behind the head of the peers' })
  see({ target: 9 })
  expect(health(), 'two blocks are under way').toMatchObject({ healthy: true, target: 9 })
  see({ target: 12 })
  expect(health(), 'a node that was there may be some seconds late').toMatchObject({ healthy: true })
  see({ target: 13 })
  expect(health()).toMatchObject({ healthy: false, reason: '6 blocks behind the head of the peers' })
  see({ count: 0, target: undefined })
  expect(health(), 'without peers silence decides').toMatchObject({ healthy: true })
})

test('heads that strangers claim do not count where there are proven ones, or the node was at the head', () => {
  const { health, see } = node(1_000)
  see({ target: 1_000_000_000, proven: undefined })
  expect(health(), 'a new node has no other').toMatchObject({ healthy: false, target: 1_000_000_000 })
  see({ target: 1_000_000_000, proven: 8 })
  expect(health()).toMatchObject({ healthy: true, target: 8 })
  see({ target: 1_000_000_000, proven: undefined })
  expect(health()).toMatchObject({ healthy: true, target: null })
  see({ target: 1_000_000_000, proven: 40 })
  expect(health()).toMatchObject({ healthy: false, reason: '33 blocks behind the head of the peers' })
})

test('short blocks may lag by more of them', () => {
  const { health, see } = node(100)
  expect(health().healthy).toBe(true)
  see({ target: 57 })
  expect(health().healthy).toBe(true)
  see({ target: 58 })
  expect(health().healthy).toBe(false)
})

test('in instant mode a node without peers cannot know whether it is at the head', () => {
  const { health, see } = node(0)
  expect(health().healthy).toBe(true)
  see({ count: 0, target: undefined })
  expect(health()).toMatchObject({ healthy: false, reason: 'no peer is connected' })
})

test('a validator that makes the blocks alone is healthy without peers, and whatever they claim', () => {
  const { health, see } = node(1_000, true)
  see({ count: 0, target: undefined })
  expect(health().healthy).toBe(true)
  see({ count: 1, target: 1_000_000 })
  expect(health().healthy).toBe(true)
})

test('peers of another genesis are named with both hashes, as long as no peer of this chain is there', () => {
  const { health, see } = node(1_000)
  see({ count: 0, target: undefined, foreignGenesis: FOREIGN })
  const { healthy, reason } = health()
  expect(healthy).toBe(false)
  expect(reason).toContain(OWN)
  expect(reason).toContain(FOREIGN)
  see({ count: 1, target: 7 })
  expect(health().healthy).toBe(true)
})

test('a voting node whose clock is behind the blocks of others says so, although blocks come', () => {
  const { health, wait, set, commit } = node(1_000)
  wait(-2_000)
  expect(health(), 'it waits for a block of the next second, and votes').toEqual(HEALTHY)
  wait(-28_000)
  commit()
  const reason =
    "no vote for blocks of others: the last block is 30 s ahead of this node's clock, check the time service (NTP)"
  expect(health()).toEqual(ill(reason))
  set('following')
  expect(health().healthy, 'a full node needs no clock').toBe(true)
  set('voting')
  wait(30_000)
  commit()
  expect(health()).toEqual(HEALTHY)
})

test('a clock that was set back hides no silence, and is named as its cause', () => {
  const { health, wait, set } = node(1_000)
  set('following')
  wait(-600_000)
  expect(health().healthy).toBe(true)
  wait(15_001)
  expect(health().reason).toBe(
    "no block for 15 s: the last block is 585 s ahead of this node's clock, check the time service (NTP)",
  )
})
