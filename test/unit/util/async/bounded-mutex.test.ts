import { expect, test } from 'vitest'
import { Turns } from '../../../../src/util/async/bounded-mutex.ts'

const busy = () => new Error('busy')

test('one at a time, in order, whatever came of the one before', async () => {
  const turns = new Turns({ queued: 3, waitMs: 1_000 }, busy)
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await Promise.resolve()
    log.push(`${name} ends`)
    if (name === 'a') throw new Error('a failed')
    return name
  }
  const done = await Promise.allSettled([turns.run(work('a')), turns.run(work('b')), turns.run(work('c'))])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(done.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
})

test('what is one too many is turned away at once, and later work is not', async () => {
  const turns = new Turns({ queued: 1, waitMs: 1_000 }, busy)
  const first = turns.run(async () => 1)
  await expect(turns.run(async () => 2)).rejects.toThrow('busy')
  expect(await first).toBe(1)
  expect(await turns.run(async () => 3)).toBe(3)
})

test('work whose turn comes too late is not begun', async () => {
  let nowMs = 0
  const turns = new Turns({ queued: 4, waitMs: 5_000 }, busy, () => nowMs)
  const begun: string[] = []
  const work = (name: string, ms: number) => async () => {
    begun.push(name)
    nowMs += ms
  }
  const [slow, just, late] = [
    turns.run(work('slow', 5_000)),
    turns.run(work('just in time', 1)),
    turns.run(work('late', 1)),
  ]
  await slow
  await just
  await expect(late).rejects.toThrow('busy')
  expect(begun).toEqual(['slow', 'just in time'])
  await turns.run(work('next', 0))
  expect(begun).toContain('next')
})
