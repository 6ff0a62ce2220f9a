import { expect, test } from 'vitest'
import { Sources } from '../../../../src/chain/sync/sources.ts'
import { LIMITS } from '../../../../src/config/limits.ts'

const { holdMs, holdCapMs } = LIMITS.sync

test('who failed is not listened to, each time for twice as long, until it delivers', () => {
  const sources = new Sources()
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
  const sources = new Sources()
  for (let answer = 0; answer < 4; answer++) sources.failed('a', 0)
  expect(sources.counts('a', holdMs)).toBe(true)
})

test('it is free when it has answered everything, and has delivered until it fails', () => {
  const sources = new Sources()
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
