import { expect, test } from 'vitest'
import { Sources } from '../../../../src/chain/sync/sync-peers.ts'
import { LIMITS } from '../../../../src/config/limits.ts'
import { specOf } from '../../../../src/network/messages.ts'

const { holdMs, holdCapMs } = LIMITS.sync

test('who failed is not listened to, each time for twice as long, until it delivers', () => {
  const sources = new Sources(0)
  const peers = [
    { id: 'a', head: { number: 9 } },
    { id: 'b', head: { number: 5 } },
  ]
  let nowMs = 1_000
  for (const pauseMs of [holdMs, 2 * holdMs, 4 * holdMs]) {
    sources.failed('a', nowMs)
    expect(sources.claims(peers, nowMs + pauseMs - 1)).toEqual([5])
    nowMs += pauseMs
    expect(sources.claims(peers, nowMs)).toEqual([9, 5])
  }
  for (let times = 0; times < 10; times++) {
    sources.failed('a', nowMs)
    nowMs += holdCapMs
    expect(sources.counts('a', nowMs)).toBe(true)
  }
  sources.delivered('a')
  sources.failed('a', nowMs)
  expect(sources.counts('a', nowMs + holdMs)).toBe(true)
})

test('answers that fail together are one failure', () => {
  const sources = new Sources(0)
  for (let answer = 0; answer < 4; answer++) sources.failed('a', 0)
  expect(sources.counts('a', holdMs)).toBe(true)
})

test('it is free when it has answered everything, and has delivered until it fails', () => {
  const sources = new Sources(0)
  sources.asked('a')
  sources.asked('a')
  sources.answered('a')
  expect(sources.isFree('a')).toBe(false)
  sources.answered('a')
  expect(sources.isFree('a')).toBe(true)
  expect(sources.hasDelivered('a')).toBe(false)
  sources.delivered('a')
  expect(sources.hasDelivered('a')).toBe(true)
  sources.failed('a', 0)
  expect(sources.hasDelivered('a')).toBe(false)
})

test('it asks no faster than one peer bears', () => {
  const { perSecond, burst } = LIMITS.sync.asks
  const sources = new Sources(0)
  let asked = 0
  for (let nowMs = 0; nowMs < 10_000; nowMs++) if (sources.mayAsk(nowMs)) asked++
  expect(asked).toBeGreaterThan(9 * perSecond)
  expect(asked).toBeLessThanOrEqual(burst + 10 * perSecond)
  const { quota } = specOf('getBlocks')
  expect(perSecond).toBeLessThan(quota.perSecond)
  expect(burst).toBeLessThan(quota.burst)
})
