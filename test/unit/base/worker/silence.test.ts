import { Silence } from '@tandem/base/worker/silence.ts'
import { systemThreadId, threadTimeMs } from '@tandem/base/worker/thread-time.ts'
import { expect, test } from 'vitest'

/** Looks at a worker: heartbeats, processor time, passed time. */
const watch = () => {
  const silence = new Silence(0, { stuckMs: 60, blockedMs: 2_000 })
  return (beats: number, usedMs: number | undefined, nowMs: number, isIdle = false) =>
    silence.isLong({ beats, usedMs }, nowMs, isIdle)
}

test('a thread that waits for a processor does not hang, however long it says nothing', () => {
  const isLong = watch()
  expect(isLong(7, 1_000, 0)).toBe(false)
  expect(isLong(7, 1_003, 1_900)).toBe(false)
})

test('a thread hangs that used its time without a heartbeat, until the next one', () => {
  const isLong = watch()
  expect(isLong(7, 1_000, 0)).toBe(false)
  expect(isLong(7, 1_060, 100)).toBe(false)
  expect(isLong(7, 1_061, 101)).toBe(true)
  expect(isLong(8, 1_500, 102)).toBe(false)
  expect(isLong(8, 1_560, 200)).toBe(false)
})

test('an idle thread does not hang, and its time begins with its work', () => {
  const isLong = watch()
  expect(isLong(7, undefined, 0, true)).toBe(false)
  expect(isLong(7, undefined, 90_000, true)).toBe(false)
  expect(isLong(7, 5_000, 90_001)).toBe(false)
  expect(isLong(7, 5_061, 90_100)).toBe(true)
})

test('a thread that is blocked without using time hangs after a while', () => {
  const isLong = watch()
  expect(isLong(7, 10, 0)).toBe(false)
  expect(isLong(7, 10, 2_000)).toBe(false)
  expect(isLong(7, 10, 2_001)).toBe(true)
})

test('where the system tells no time of threads, passed time counts', () => {
  const isLong = watch()
  expect(isLong(7, undefined, 0)).toBe(false)
  expect(isLong(7, undefined, 61)).toBe(true)
})

test.runIf(process.platform === 'linux')('the system tells the time of a thread, which grows with its work', () => {
  const id = systemThreadId()
  const before = threadTimeMs(id) ?? Number.NaN
  const startMs = process.threadCpuUsage().user
  while (process.threadCpuUsage().user < startMs + 20_000);
  expect(threadTimeMs(id)).toBeGreaterThan(before)
  expect([threadTimeMs(0), threadTimeMs(2 ** 30)]).toEqual([undefined, undefined])
})
