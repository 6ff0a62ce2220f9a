import { CircuitBreaker } from '@tandem/explorer/store/postgres/circuit-breaker.ts'
import { expect, test } from 'vitest'

const lost = (): Promise<never> => Promise.reject(new Error('Connection terminated unexpectedly'))
const refused = (code: string) => (): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }))
const unreachable = { code: 'DATABASE_UNREACHABLE' }

test('while the database is gone reads fail without asking it, but for one attempt a second', async () => {
  let nowMs = 0
  const breaker = new CircuitBreaker(true, () => nowMs)
  let asked = 0
  const read = (): Promise<void> =>
    breaker.try(() => {
      asked++
      return lost()
    })
  await expect(read()).rejects.toMatchObject(unreachable)
  for (let i = 0; i < 50; i++) await expect(read()).rejects.toMatchObject(unreachable)
  expect(asked).toBe(1)
  nowMs += 1_000
  await Promise.all(Array.from({ length: 50 }, () => expect(read()).rejects.toMatchObject(unreachable)))
  expect(asked).toBe(2)
  nowMs += 1_000
  expect(await breaker.try(async () => 'back')).toBe('back')
  expect(await breaker.try(async () => 'there')).toBe('there')
})

test('a query that is too slow says nothing about the others, and a mistake is no matter of time', async () => {
  const breaker = new CircuitBreaker(true, () => 0)
  await expect(breaker.try(refused('57014'))).rejects.toMatchObject(unreachable)
  expect(await breaker.try(async () => 'answered')).toBe('answered')
  await expect(breaker.try(refused('42601'))).rejects.toMatchObject({ code: '42601' })
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', '57P03', '08006']) {
    const gone = new CircuitBreaker(true, () => 0)
    await expect(gone.try(refused(code))).rejects.toMatchObject(unreachable)
    await expect(gone.try(async () => 'not asked')).rejects.toMatchObject(unreachable)
  }
})

test.each([
  Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }),
  new Error('Client was closed and is not queryable'),
  new Error('Query read timeout'),
])('a connection that ends within an exchange passes: %s', async error => {
  const breaker = new CircuitBreaker(false, () => 0)
  await expect(breaker.try(() => Promise.reject(error))).rejects.toMatchObject(unreachable)
})

test('a writer asks each time', async () => {
  const breaker = new CircuitBreaker(false, () => 0)
  await expect(breaker.try(lost)).rejects.toMatchObject(unreachable)
  expect(await breaker.try(async () => 'asked')).toBe('asked')
})
