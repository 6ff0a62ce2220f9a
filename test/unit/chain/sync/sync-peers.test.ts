import { expect, test } from 'vitest'
import { SyncPeers } from '../../../../src/chain/sync/sync-peers.ts'
import { SYNC_LIMITS } from '../../../../src/config/limits/sync.ts'

const { holdMs, holdCapMs } = SYNC_LIMITS

test('who failed is not listened to, each time for twice as long, until it delivers', () => {
  const syncPeers = new SyncPeers()
  const peers = [
    { id: 'a', head: { number: 9 } },
    { id: 'b', head: { number: 5 } },
  ]
  let nowMs = 1_000
  for (const pauseMs of [holdMs, 2 * holdMs, 4 * holdMs]) {
    syncPeers.failed('a', nowMs)
    expect(syncPeers.claims(peers, nowMs + pauseMs - 1)).toEqual([5])
    nowMs += pauseMs
    expect(syncPeers.claims(peers, nowMs)).toEqual([9, 5])
  }
  for (let times = 0; times < 10; times++) {
    syncPeers.failed('a', nowMs)
    nowMs += holdCapMs
    expect(syncPeers.counts('a', nowMs)).toBe(true)
  }
  syncPeers.delivered('a')
  syncPeers.failed('a', nowMs)
  expect(syncPeers.counts('a', nowMs + holdMs)).toBe(true)
})

test('answers that fail together are one failure', () => {
  const syncPeers = new SyncPeers()
  for (let answer = 0; answer < 4; answer++) syncPeers.failed('a', 0)
  expect(syncPeers.counts('a', holdMs)).toBe(true)
})

test('it is free when it has answered everything, and has delivered until it fails', () => {
  const syncPeers = new SyncPeers()
  syncPeers.asked('a')
  syncPeers.asked('a')
  syncPeers.answered('a')
  expect(syncPeers.isFree('a')).toBe(false)
  syncPeers.answered('a')
  expect(syncPeers.isFree('a')).toBe(true)
  expect(syncPeers.hasDelivered('a')).toBe(false)
  syncPeers.delivered('a')
  expect(syncPeers.hasDelivered('a')).toBe(true)
  syncPeers.failed('a', 0)
  expect(syncPeers.hasDelivered('a')).toBe(false)
})
