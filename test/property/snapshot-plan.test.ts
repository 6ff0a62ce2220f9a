import { CodedError } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fetchChunks } from '../../src/chain/snapshot/sync/fetch-chunks.ts'
import { SnapshotProgress } from '../../src/chain/snapshot/sync/snapshot-progress.ts'
import { SNAPSHOT_LIMITS } from '../../src/config/limits/sync.ts'
import { SEED } from '../support/seed.ts'

const { parallel, attempts } = SNAPSHOT_LIMITS
type Options = Parameters<typeof fetchChunks>[0]

/** Answer of a peer to the request of a chunk. */
interface Asked {
  readonly index: number
  readonly answer: () => void
  readonly refuse: () => void
}

/** Fetch of a range from peers that answer when told to; pauses end at once. */
const fetchFrom = (from: number, to: number, done: Set<number>, put: (index: number) => void = () => {}) => {
  const asked: Asked[] = []
  const stop = new AbortController()
  const clock = {
    nowMs: () => 0,
    cpuMs: () => 0,
    schedule: (_: number, run: () => void) => {
      queueMicrotask(run)
      return () => {}
    },
  }
  const request = (_: string, { index }: { readonly index: number }) =>
    new Promise((resolve, reject) => {
      const refuse = () => reject(new CodedError({ code: 'NO_PEER' }))
      asked.push({ index, answer: () => resolve({ answer: Uint8Array.of(1), from: 'peer' }), refuse })
    })
  const call = async (_: string, index: number) => {
    put(index)
    return { accounts: 1, slots: 0 }
  }
  const over = fetchChunks({
    network: { request, reportForgery: () => {} } as unknown as Options['network'],
    staging: { call } as unknown as Options['staging'],
    id: '0x01',
    number: 7,
    ...{ from, to, done, clock },
    progress: new SnapshotProgress({ chunks: to, done: 0, accounts: 0, slots: 0 }, () => 0, silentLogger),
    logger: silentLogger,
    stopping: stop.signal,
  })
  return { asked, over, stop }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test('every chunk of the range comes in once, those that were in never again, however answers fail and in whatever order they come', () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 60 }),
      fc.uniqueArray(fc.nat(100)),
      fc.array(fc.record({ which: fc.nat(5), fails: fc.boolean() }), { maxLength: 100 }),
      async (from, count, done, answers) => {
        const came: number[] = []
        const { asked, over } = fetchFrom(from, from + count, new Set(done), index => came.push(index))
        let failures = 0
        for (let step = 0; asked.length > 0; step++) {
          expect(asked.length).toBeLessThanOrEqual(parallel)
          const { which, fails } = answers[step] ?? { which: 0, fails: false }
          const [next] = asked.splice(which % asked.length, 1) as [Asked]
          failures = fails && failures < attempts - 1 ? failures + 1 : 0
          if (failures > 0) next.refuse()
          else next.answer()
          await settled()
        }
        await over
        const wanted = Array.from({ length: count }, (_, at) => from + at).filter(index => !done.includes(index))
        expect(came.toSorted((a, b) => a - b)).toEqual(wanted)
      },
    ),
    { seed: SEED, numRuns: 300 },
  ))

test('what failed comes before what was never asked for, and failures count until something comes in', async () => {
  const { asked, over } = fetchFrom(3, 100, new Set([4]))
  const indexes = () => asked.map(({ index }) => index)
  expect(indexes()).toEqual([3, 5, 6, 7, 8, 9].slice(0, parallel))
  asked.splice(1, 1)[0]?.refuse()
  await settled()
  expect(indexes().at(-1)).toBe(5)
  asked.splice(0, 1)[0]?.answer()
  await settled()
  expect(indexes().at(-1)).toBe(3 + parallel + 1)
  for (let failed = 0; failed < attempts; failed++) {
    asked.splice(0, 1)[0]?.refuse()
    await settled()
  }
  const left = asked.splice(0)
  expect(left).toHaveLength(parallel - 1)
  for (const { answer } of left) answer()
  await expect(over).rejects.toMatchObject({ code: 'NOT_OBTAINED' })
  expect(asked).toEqual([])
})

test('an error of the store ends the fetch with it once those under way are over, and so does a stop', async () => {
  const broken = new Error('disk')
  const failing = fetchFrom(0, 100, new Set(), () => {
    throw broken
  })
  for (const { answer } of failing.asked.splice(0)) answer()
  await expect(failing.over).rejects.toBe(broken)
  expect(failing.asked).toEqual([])
  const stopped = fetchFrom(0, 100, new Set())
  stopped.stop.abort()
  for (const { answer } of stopped.asked.splice(0)) answer()
  await expect(stopped.over).rejects.toMatchObject({ code: 'NOT_OBTAINED' })
  expect(stopped.asked).toEqual([])
})
