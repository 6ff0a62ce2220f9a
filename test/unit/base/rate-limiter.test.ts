import { RateLimiter } from '@tandem/base/rate-limiter.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { expect, test } from 'vitest'

test('a quota gives its burst, then its rate, and nothing for a clock set back', () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 1_000)
  expect([1, 2, 3, 4].map(() => bucket.take(1_000))).toEqual([true, true, true, false])
  expect([1_499, 1_500, 1_500].map(ms => bucket.take(ms))).toEqual([false, true, false])
  expect(bucket.take(0)).toBe(false)
  expect(bucket.take(10_000)).toBe(true)
  expect([bucket.take(20_000, 4), bucket.take(20_000, 3), bucket.take(20_000)]).toEqual([false, true, false])
  bucket.give(7)
  expect([bucket.take(20_000, 4), bucket.take(20_000, 3)]).toEqual([false, true])
})

test('a charge beyond the tokens is a debt that the rate pays', () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0)
  bucket.charge(0, 5)
  expect([0, 1_000, 1_500].map(ms => bucket.hasTokens(ms))).toEqual([false, false, true])
  expect(bucket.take(1_500)).toBe(true)
})

test('each sender has tokens of its own, and the one unused for longest is forgotten', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 2 }, 2)
  const take = (sender: string, cost?: number) => limiter.take(sender, 0, cost)
  expect([take('a', 2), take('a'), take('b', 2)]).toEqual([true, false, true])
  // A use keeps a sender: b goes.
  expect([take('a'), take('c'), take('a'), take('b', 2)]).toEqual([false, true, false, true])
  limiter.charge('c', 0, 10)
  expect([limiter.allows('c', 0), limiter.allows('c', 8_000), limiter.allows('c', 8_500)]).toEqual([false, false, true])
  limiter.delete('c')
  expect(take('c', 2)).toBe(true)
})
