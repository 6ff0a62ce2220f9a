import { describe, expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../../src/config/limits/consensus.ts'
import { OwnVotes, Quarantine } from '../../../../src/consensus/signer/local-validator.ts'
import type { SignPosition } from '../../../../src/consensus/wal/watermark.ts'

const at = (number: number, round: number, step: SignPosition['step']): SignPosition => ({ number, round, step })
const digest = (fill: number) => new Uint8Array(32).fill(fill)

describe('votes with the own key', () => {
  test('are its own when it made them, and foreign when it made another or none there', () => {
    const own = new OwnVotes(null)
    own.remember(at(5, 0, 'prepare'), digest(1))
    own.remember(at(5, 0, 'commit'), digest(2))
    expect(own.isForeign(at(5, 0, 'prepare'), digest(1))).toBe(false)
    expect(own.isForeign(at(5, 0, 'prepare'), digest(9))).toBe(true)
    expect(own.isForeign(at(5, 0, 'proposal'), digest(1))).toBe(true)
    expect(own.isForeign(at(5, 1, 'roundChange'), digest(1))).toBe(true)
  })

  test('from before a restart are foreign only where that can be known', () => {
    const own = new OwnVotes({ ...at(5, 1, 'prepare'), digest: digest(1), signature: new Uint8Array(65) })
    expect(own.isForeign(at(5, 0, 'commit'), digest(9))).toBe(false)
    expect(own.isForeign(at(5, 1, 'prepare'), digest(1))).toBe(false)
    expect(own.isForeign(at(5, 1, 'prepare'), digest(9))).toBe(true)
    expect(own.isForeign(at(5, 1, 'commit'), digest(9))).toBe(true)
    own.remember(at(5, 0, 'commit'), digest(2))
    expect(own.isForeign(at(5, 0, 'commit'), digest(9))).toBe(true)
  })

  test('of heights that are over are forgotten', () => {
    const own = new OwnVotes(null)
    for (let number = 1; number <= 100; number++) {
      own.remember(at(number, 0, 'commit'), digest(1))
      own.forgetBelow(number)
    }
    expect(own.size).toBe(1)
  })
})

describe('a quarantine', () => {
  /** Decided so long after the quarantine began. */
  const over = (number: number, seconds = 60) => ({ number, timestamp: seconds })

  test('ends two heights after the head, or the last thing signed, whichever is later', () => {
    const byHead = new Quarantine(10, 3, 0)
    expect([11, 12].map(number => byHead.decided(over(number), false))).toEqual([false, true])
    const bySigned = new Quarantine(10, 11, 0)
    expect([11, 12, 13].map(number => bySigned.decided(over(number), false))).toEqual([false, false, true])
  })

  test('grows with every own vote that turns up and every height that was over before', () => {
    const quarantine = new Quarantine(10, 0, 0)
    quarantine.ownVoteSeen(14)
    quarantine.ownVoteSeen(12)
    expect(quarantine.upTo).toBe(16)
    expect([15, 16, 17].map(number => quarantine.decided(over(number), true))).toEqual([false, false, false])
    expect([18, 19].map(number => quarantine.decided(over(number), false))).toEqual([false, true])
  })

  test('does not end by heights that may have been decided before it began', () => {
    const quarantine = new Quarantine(10, 0, 1_000_000)
    const { freshMs } = CONSENSUS_LIMITS
    const fresh = 1_000 + freshMs / 1_000
    expect([900, 1_000, fresh].map(seconds => quarantine.decided(over(20, seconds), false))).toEqual([
      false,
      false,
      false,
    ])
    expect(quarantine.decided(over(21, fresh + 1), false)).toBe(true)
  })
})
