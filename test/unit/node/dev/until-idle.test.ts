import { expect, test } from 'vitest'
import type { ConsensusStatus } from '../../../../src/consensus/monitor/stats.ts'
import { untilIdle } from '../../../../src/node/dev/dev-parts.ts'
import { ManualClock } from '../../../support/consensus/manual-clock.ts'

/** An engine that decides the block of its log, and tells nobody. */
const engineWith = (status: { isIdle: boolean; mode: ConsensusStatus['mode'] }) => ({
  status: () => status as ConsensusStatus,
})

const waitFor = (status: Parameters<typeof engineWith>[0]) => {
  const clock = new ManualClock()
  const wait = { clock, isOver: false }
  void untilIdle(engineWith(status), clock).then(() => {
    wait.isOver = true
  })
  return wait
}

test('an idle engine is not waited for', async () => {
  const wait = waitFor({ isIdle: true, mode: 'voting' })
  await wait.clock.advance(0)
  expect(wait.isOver).toBe(true)
})

test('a block whose commit was told before is waited for until the engine is idle, without another event', async () => {
  const status = { isIdle: false, mode: 'voting' as const }
  const wait = waitFor(status)
  await wait.clock.advance(1_000)
  expect(wait.isOver).toBe(false)
  status.isIdle = true
  await wait.clock.advance(10)
  expect(wait.isOver).toBe(true)
})

test.each(['stopped', 'failed', 'quarantined', 'following'] as const)(
  'an engine that is %s makes no block',
  async mode => {
    const status: { isIdle: boolean; mode: ConsensusStatus['mode'] } = { isIdle: false, mode: 'voting' }
    const wait = waitFor(status)
    await wait.clock.advance(10)
    status.mode = mode
    await wait.clock.advance(10)
    expect(wait.isOver).toBe(true)
  },
)
