import { expect, test } from 'vitest'
import type { SyncStatus } from '../../../src/chain/types.ts'
import type { EngineMode } from '../../../src/consensus/engine/types.ts'
import { createHealth } from '../../../src/node/health.ts'

/** A node that stands at block 7 and hears of a block only when told. */
const node = (blockTimeMs: number) => {
  let nowMs = 1_000_000
  let mode: EngineMode = 'voting'
  let sync: SyncStatus | false = false
  let committed = (): void => {}
  const health = createHealth({
    chain: {
      headBlock: { header: { number: 7 }, hash: '0x07' } as never,
      onCommitted: listener => {
        committed = listener as never
        return () => {}
      },
    },
    engine: { status: () => ({ mode, round: 2 }) as never },
    blockTimeMs: () => blockTimeMs,
    syncing: () => sync,
    peers: () => 3,
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
    catchUp: (status: SyncStatus | false) => {
      sync = status
    },
  }
}
const SEEN = { number: 7, hash: '0x07', syncing: false, round: 2, peers: 3 }
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
