import type { Hex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PendingHashes } from '../../src/rpc/subscriptions/pending-hashes.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const LIMIT = 20

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('push'), count: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read'), reader: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop') }) },
)

test('each reader gets every hash once and in order, but for the oldest of more than are kept', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const pending = new PendingHashes(LIMIT)
      const all: Hex[] = []
      const readers = [0, 0, 0]
      for (const step of steps) {
        if (step.kind === 'push') {
          for (let i = 0; i < step.count; i++) {
            all.push(`0x${all.length.toString(16)}`)
            pending.push(all.at(-1) as Hex)
          }
        } else if (step.kind === 'read') {
          const missed = all.slice(readers[step.reader])
          const got = pending.from(readers[step.reader] as number)
          expect(got).toEqual(missed.slice(missed.length - got.length))
          // Less only where the limit has been reached.
          expect(got.length).toBeGreaterThanOrEqual(Math.min(missed.length, LIMIT / 2))
          readers[step.reader] = pending.end
        } else {
          const lowest = Math.min(...readers)
          pending.dropBefore(lowest)
          expect(pending.size).toBeLessThanOrEqual(pending.end - lowest)
        }
        expect(pending.end).toBe(all.length)
        expect(pending.size).toBeLessThanOrEqual(LIMIT)
      }
    }),
    { seed, numRuns: 2_000 },
  )
})
