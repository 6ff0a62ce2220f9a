import { expect, test } from 'vitest'
import { Reachability } from '../../../src/explorer/store/postgres/reachability.ts'

const lost = (): Promise<never> => Promise.reject(new Error('Connection terminated unexpectedly'))
const refused = (code: string) => (): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }))
const unreachable = { code: 'DATABASE_UNREACHABLE' }

test('while the database is gone reads fail without asking it, but for one attempt a second', async () => {
  let nowMs = 0
  const reachability = new Reachability(true, () => nowMs)
  let asked = 0
  const read = (): Promise<void> =>
    reachability.try(() => {
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
  expect(await reachability.try(async () => 'back')).toBe('back')
  expect(await reachability.try(async () => 'there')).toBe('there')
})

test('a query that is too slow says nothing about the others, and a mistake is no matter of time', async () => {
  const reachability = new Reachability(true, () => 0)
  await expect(reachability.try(refused('57014'))).rejects.toMatchObject(unreachable)
  expect(await reachability.try(async () => 'answered')).toBe('answered')
  await expect(reachability.try(refused('42601'))).rejects.toMatchObject({ code: '42601' })
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', '57P03', '08006']) {
    const gone = new Reachability(true, () => 0)
    await expect(gone.try(refused(code))).rejects.toMatchObject(unreachable)
    await expect(gone.try(async () => 'not asked')).rejects.toMatchObject(unreachable)
  }
})

test('a writer asks each time', async () => {
  const reachability = new Reachability(false, () => 0)
  await expect(reachability.try(lost)).rejects.toMatchObject(unreachable)
  expect(await reachability.try(async () => 'asked')).toBe('asked')
})
