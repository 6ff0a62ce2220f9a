import { BoundedMutex } from '@tandem/base/async/bounded-mutex.ts'
import { expect, test } from 'vitest'

const busy = () => new Error('busy')

test('one at a time, in order, whatever came of the one before', async () => {
  const boundedMutex = new BoundedMutex({ queued: 3, waitMs: 1_000 }, busy)
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await Promise.resolve()
    log.push(`${name} ends`)
    if (name === 'a') throw new Error('a failed')
    return name
  }
  const done = await Promise.allSettled([
    boundedMutex.run(work('a')),
    boundedMutex.run(work('b')),
    boundedMutex.run(work('c')),
  ])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(done.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
})

test('what is one too many is turned away at once, and later work is not', async () => {
  const boundedMutex = new BoundedMutex({ queued: 1, waitMs: 1_000 }, busy)
  const first = boundedMutex.run(async () => 1)
  await expect(boundedMutex.run(async () => 2)).rejects.toThrow('busy')
  expect(await first).toBe(1)
  expect(await boundedMutex.run(async () => 3)).toBe(3)
})

test('work whose turn comes too late is not begun', async () => {
  let nowMs = 0
  const boundedMutex = new BoundedMutex({ queued: 4, waitMs: 5_000 }, busy, () => nowMs)
  const begun: string[] = []
  const work = (name: string, ms: number) => async () => {
    begun.push(name)
    nowMs += ms
  }
  const [slow, just, late] = [
    boundedMutex.run(work('slow', 5_000)),
    boundedMutex.run(work('just in time', 1)),
    boundedMutex.run(work('late', 1)),
  ]
  await slow
  await just
  await expect(late).rejects.toThrow('busy')
  expect(begun).toEqual(['slow', 'just in time'])
  await boundedMutex.run(work('next', 0))
  expect(begun).toContain('next')
})
