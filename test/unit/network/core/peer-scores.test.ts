import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'
import { addressScoreKey, PeerScores, validatorKey } from '../../../../src/network/core/peer-scores.ts'

const limits = { ...NETWORK_LIMITS, entries: 5 }
const MINUTE = 60_000
const peer = (id: string, address: string | null = null, isReserved = false, validator: Hex | null = null) => ({
  id,
  address,
  validator,
  isReserved,
})

describe('peer scores', () => {
  test('add up to a disconnect and then to a ban, which ends', () => {
    const scores = new PeerScores(limits)
    const verdicts = [1, 2, 3, 4, 5, 6].map(() => scores.blame(peer('a'), 'useless', 0))
    expect(verdicts).toEqual(['keep', 'keep', 'disconnect', 'disconnect', 'disconnect', 'ban'])
    expect(scores.isBanned('a', limits.banMs - 1)).toBe(true)
    expect(scores.isBanned('a', limits.banMs)).toBe(false)
  })

  test('heal by half in the half-life', () => {
    const scores = new PeerScores(limits)
    scores.blame(peer('a'), 'useless', 0)
    expect(scores.score('a', limits.halfLifeMs)).toBeCloseTo(-5)
    expect(scores.score('a', 2 * limits.halfLifeMs)).toBeCloseTo(-2.5)
    // A clock set back heals nothing and hurts nothing.
    expect(scores.score('a', -limits.halfLifeMs)).toBe(-10)
  })

  test('ban at once for what no honest node does, also in a reserved place', () => {
    const scores = new PeerScores(limits)
    expect(scores.blame(peer('a', null, true), 'malformed', 0)).toBe('ban')
    expect(scores.isBanned('a', 1)).toBe(true)
  })

  test('ban a validator with its node, whatever address it comes from, and each time for longer', () => {
    const scores = new PeerScores(limits)
    const key = `0x${'ab'.repeat(20)}` as const
    let nowMs = 0
    const lengths: number[] = []
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      expect(scores.isBanned(validatorKey(key), nowMs)).toBe(false)
      expect(scores.blame(peer(id, '1.2.3.4', true, key), 'forged', nowMs)).toBe('ban')
      let lengthMs = limits.reservedBanMs
      while (scores.isBanned(validatorKey(key), nowMs + lengthMs)) lengthMs += limits.reservedBanMs
      lengths.push(lengthMs / limits.reservedBanMs)
      nowMs += lengthMs
      // Others of its address are not banned for it.
      expect(scores.isBanned(addressScoreKey('1.2.3.4'), nowMs - 1)).toBe(false)
    }
    expect(lengths).toEqual([1, 2, 4, 8, 16, 30, 30])
  })

  test('never ban a reserved peer for small things', () => {
    const scores = new PeerScores(limits)
    for (let count = 0; count < 50; count++) scores.blame(peer('a', null, true), 'falsehood', 0)
    expect(scores.isBanned('a', 1)).toBe(false)
    expect(scores.blame(peer('a', null, true), 'flood', 0)).toBe('disconnect')
  })

  test('ban an address from which several were banned, except the loopback', () => {
    const scores = new PeerScores(limits)
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      expect(scores.isBanned(addressScoreKey('1.2.3.4'), 1)).toBe(false)
      scores.blame(peer(id, '1.2.3.4'), 'malformed', index)
    }
    expect(scores.isBanned(addressScoreKey('1.2.3.4'), 3)).toBe(true)
    expect(scores.isBanned(addressScoreKey('1.2.3.4'), 3 + limits.banMs)).toBe(false)
  })

  test('count one ban for all that a connection brings before it ends', () => {
    const scores = new PeerScores(limits)
    const key = `0x${'ab'.repeat(20)}` as const
    for (let count = 0; count < 100; count++) {
      expect(scores.blame(peer('member', '1.2.3.4', true, key), 'forged', count)).toBe('ban')
      expect(scores.blame(peer('stranger', '1.2.3.4'), 'malformed', count)).toBe('ban')
    }
    expect(scores.isBanned(validatorKey(key), 100 + limits.reservedBanMs)).toBe(false)
    expect(scores.isBanned(addressScoreKey('1.2.3.4'), 100)).toBe(false)
    expect(scores.isBanned('stranger', limits.banMs)).toBe(false)
  })

  test('are bounded, and bans are kept longest', () => {
    const scores = new PeerScores(limits)
    scores.blame(peer('bad'), 'malformed', 0)
    for (let count = 0; count < 100; count++) scores.blame(peer(`peer ${count}`), 'useless', count)
    expect(scores.size).toBe(limits.entries)
    expect(scores.isBanned('bad', 200)).toBe(true)
    for (let count = 0; count < 100; count++) scores.blame(peer(`banned ${count}`), 'malformed', 200)
    expect(scores.size).toBe(limits.entries)
    expect(scores.isBanned('banned 99', 201)).toBe(true)
  })

  test('survive a restart, but for what has healed', () => {
    const before = new PeerScores(limits)
    before.blame(peer('a'), 'useless', 0)
    before.blame(peer('b'), 'malformed', 0)
    const after = new PeerScores(limits)
    after.restore(before.entries(MINUTE), MINUTE)
    expect(after.score('a', MINUTE)).toBeCloseTo(before.score('a', MINUTE))
    expect(after.isBanned('b', MINUTE)).toBe(true)
    expect(before.entries(1_000 * MINUTE)).toEqual([])
  })

  test('do not believe a file that bans for ever', () => {
    const scores = new PeerScores(limits)
    scores.restore([{ key: 'a', score: -1e9, atMs: 1e15, bannedUntilMs: 1e15, bans: 0 }], 0)
    expect(scores.isBanned('a', limits.banMs)).toBe(false)
    expect(scores.score('a', 0)).toBe(-100)
  })

  test('forget by the word of an operator', () => {
    const scores = new PeerScores(limits)
    scores.blame(peer('a'), 'malformed', 0)
    scores.pardon('a')
    expect(scores.isBanned('a', 1)).toBe(false)
    expect(scores.score('a', 1)).toBe(0)
  })
})
