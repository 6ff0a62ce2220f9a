import { hashOfKey, RequestLimiter } from '@tandem/explorer/service/request-limiter.ts'
import { expect, test } from 'vitest'

const limiterAt = (keys: readonly string[] = []) => {
  let nowMs = 1_000_000
  const limiter = new RequestLimiter(keys.map(hashOfKey), () => nowMs)
  const take = (count: number, client: string, key?: string): number => {
    let allowed = 0
    for (let i = 0; i < count; i++) if (limiter.take(client, key).allowed) allowed++
    return allowed
  }
  return { limiter, take, pass: (ms: number) => (nowMs += ms) }
}

test('a hundred requests pass in any minute, and the next waits until the first is a minute old', () => {
  const { limiter, take, pass } = limiterAt()
  expect(take(60, 'a')).toBe(60)
  pass(30_000)
  expect(take(60, 'a')).toBe(40)
  expect(limiter.take('a', undefined)).toEqual({ allowed: false, limit: 100, remaining: 0, resetSeconds: 30 })
  pass(29_999)
  expect(take(1, 'a')).toBe(0)
  pass(1)
  // The sixty of the first moment count no more, and no minute anywhere has more than a hundred.
  expect(take(100, 'a')).toBe(60)
})

test('clients count by themselves, and a refused request counts for nothing', () => {
  const { take, pass } = limiterAt()
  expect(take(500, 'a')).toBe(100)
  expect(take(100, 'b')).toBe(100)
  pass(60_000)
  expect(take(500, 'a')).toBe(100)
})

test('a known key has a thousand wherever it comes from, an unknown one counts as none', () => {
  const { take } = limiterAt(['gold'])
  expect(take(600, 'a', 'gold') + take(600, 'b', 'gold')).toBe(1_000)
  expect(take(200, 'a', 'any')).toBe(100)
  expect(take(1, 'a')).toBe(0)
})

test('clients beyond all bounds are forgotten, the one seen longest ago first', () => {
  const { take } = limiterAt()
  take(100, 'first')
  for (let i = 0; i < 20_000; i++) take(1, `client ${i}`)
  expect(take(1, 'first')).toBe(1)
  expect(take(100, 'client 19999')).toBe(99)
})
