import { expect, test } from 'vitest'
import { logStatusLines } from '../../../src/node/node.ts'
import type { HealthStatus } from '../../../src/rpc/ports.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { LogBook } from '../../support/network/net-node.ts'

const HEALTHY: HealthStatus = { healthy: true, number: 10, peers: 4, mode: 'voting', round: 0, target: 10 }

const watched = () => {
  const [clock, logger] = [new ManualClock(), new LogBook()]
  const node = { health: HEALTHY }
  const stop = logStatusLines({ health: () => node.health, pending: () => 3, clock, logger })
  return { clock, logger, node, stop }
}

test('an idle hour has a line a minute, and none after the end', async () => {
  const { clock, logger, node, stop } = watched()
  for (let minute = 1; minute <= 60; minute++) {
    node.health = { ...HEALTHY, number: 10 + 60 * minute }
    await clock.advance(60_000)
  }
  expect(logger.lines).toHaveLength(60)
  expect(new Set(logger.lines.map(({ level, message }) => `${level} ${message}`))).toEqual(new Set(['info status']))
  expect(logger.lines[59]?.fields).toEqual({ number: 3_610, blocks: 60, peers: 4, mode: 'voting', pending: 3 })
  stop()
  await clock.advance(120_000)
  expect(logger.lines).toHaveLength(60)
})

test('an unhealthy node warns with the reason, the round and the height to reach', async () => {
  const { clock, logger, node } = watched()
  node.health = { ...HEALTHY, healthy: false, reason: 'far behind', round: 3, target: 73 }
  await clock.advance(60_000)
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'status: unhealthy',
      fields: {
        number: 10,
        blocks: 0,
        peers: 4,
        mode: 'voting',
        round: 3,
        target: 73,
        pending: 3,
        reason: 'far behind',
      },
    },
  ])
})
