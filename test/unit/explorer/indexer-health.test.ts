import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { healthBody, type IndexerHealth, IndexerRetries } from '@tandem/explorer/service/indexer-health.ts'
import { expect, test } from 'vitest'

const away = (code: 'DATABASE_UNREACHABLE' | 'NODE_UNREACHABLE'): Error => new CodedError({ code, reason: 'gone' })

const rig = () => {
  let nowMs = 1_000_000
  const lines: (readonly [string, object])[] = []
  const write = (fields: object, message: string): void => void lines.push([message, fields])
  const logger: Logger = { error: write, warn: write, info: write, debug: write, child: () => logger }
  const healths: IndexerHealth[] = []
  const retries = new IndexerRetries({ logger, nowMs: () => nowMs, onHealth: health => healths.push(health) })
  return {
    retries,
    lines,
    health: () => healthBody(healths.at(-1) as IndexerHealth, nowMs),
    healths,
    pass(milliseconds: number) {
      nowMs += milliseconds
    },
  }
}

test('a wait is told once when it begins, and once with its length when it is over', () => {
  const { retries, lines, pass, health, healths } = rig()
  retries.passed('at the head')
  expect(health()).toEqual({ healthy: true, index: 'at the head', waitsFor: null, seconds: 0 })
  const delays: number[] = []
  for (let attempt = 0; attempt < 20; attempt++) {
    const delay = retries.failed(away('DATABASE_UNREACHABLE'))
    delays.push(delay)
    pass(delay)
  }
  expect(delays.slice(0, 6)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000])
  expect(delays.at(-1)).toBe(5_000)
  expect(lines).toEqual([['indexing waits and goes on by itself', expect.objectContaining({ waitsFor: 'database' })]])
  const seconds = Math.round(delays.reduce((sum, delay) => sum + delay) / 1_000)
  expect(health()).toMatchObject({ healthy: false, index: 'waiting', waitsFor: 'database', seconds })
  retries.passed('filling')
  expect(lines.slice(1)).toEqual([['indexing goes on', { waitedFor: 'database', seconds }]])
  expect(health()).toMatchObject({ healthy: true, index: 'filling' })
  expect(retries.failed(away('DATABASE_UNREACHABLE'))).toBe(250)
  expect(healths.map(({ state }) => state)).toEqual(['starting', 'at the head', 'waiting', 'filling', 'waiting'])
})

test('another service that is away is another wait, and lists are served without the node', () => {
  const { retries, lines, pass, health } = rig()
  retries.failed(away('NODE_UNREACHABLE'))
  expect(health()).toMatchObject({ healthy: true, waitsFor: 'node' })
  pass(3_000)
  retries.failed(away('DATABASE_UNREACHABLE'))
  pass(2_000)
  retries.passed('at the head')
  expect(lines.map(([message, fields]) => [message, fields])).toEqual([
    ['indexing waits and goes on by itself', { waitsFor: 'node', reason: 'gone' }],
    ['indexing goes on', { waitedFor: 'node', seconds: 3 }],
    ['indexing waits and goes on by itself', { waitsFor: 'database', reason: 'gone' }],
    ['indexing goes on', { waitedFor: 'database', seconds: 2 }],
  ])
})

test('health names neither hosts nor users', () => {
  const { retries, health } = rig()
  retries.failed(new CodedError({ code: 'DATABASE_UNREACHABLE', reason: 'connect ECONNREFUSED 10.1.2.3:5432' }))
  expect(health()).toMatchObject({ reason: 'the database does not answer' })
  expect(JSON.stringify(health())).not.toContain('10.1.2.3')
})

test('every other failure is logged', () => {
  const { retries, lines, health } = rig()
  retries.failed(new Error('one'))
  retries.failed(new Error('two'))
  expect(lines).toHaveLength(2)
  expect(health()).toMatchObject({ healthy: false, index: 'failing', reason: 'indexing fails; the log has the reason' })
})
