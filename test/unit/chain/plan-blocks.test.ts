import type { CodedError } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { planBlocks } from '../../../src/chain/simulation-service.ts'
import { SIMULATE_LIMITS } from '../../../src/config/limits/clients.ts'
import type { BlockOverrides } from '../../../src/evm/calls/message/call-args.ts'
import type { CallError } from '../../../src/evm/engine.ts'

const place = (...overrides: readonly BlockOverrides[]) =>
  planBlocks(
    { number: 10, timestamp: 1_000 },
    overrides.map(one => ({ overrides: one, state: {}, calls: [] })),
    12,
  ).map(({ number, timestamp, calls }) => [number, timestamp, calls !== null])

const refusal = (...overrides: readonly BlockOverrides[]): CallError => {
  try {
    place(...overrides)
  } catch (error) {
    return (error as CodedError<CallError>).detail
  }
  throw new Error('nothing was refused')
}

test('blocks follow one another a step apart', () => {
  expect(place({}, {})).toEqual([
    [11, 1_012, true],
    [12, 1_024, true],
  ])
})

test('a number further on is led to by empty blocks', () => {
  expect(place({ number: 13, timestamp: 2_000 }, {})).toEqual([
    [11, 1_012, false],
    [12, 1_024, false],
    [13, 2_000, true],
    [14, 2_012, true],
  ])
})

test('numbers and times rise', () => {
  expect(refusal({ number: 10 })).toEqual({ code: 'SIMULATION_NUMBER_ORDER', number: 10, previous: 10 })
  expect(refusal({}, { number: 11 })).toEqual({ code: 'SIMULATION_NUMBER_ORDER', number: 11, previous: 11 })
  expect(refusal({ timestamp: 1_000 })).toEqual({ code: 'SIMULATION_TIME_ORDER', timestamp: 1_000, previous: 1_000 })
  // The empty blocks in between have times of their own.
  expect(refusal({ number: 13, timestamp: 1_024 })).toEqual({
    code: 'SIMULATION_TIME_ORDER',
    timestamp: 1_024,
    previous: 1_024,
  })
})

test('times are numbers that count exactly', () => {
  const latest = Number.MAX_SAFE_INTEGER
  expect(place({ timestamp: latest })).toEqual([[11, latest, true]])
  expect(refusal({ timestamp: 2 ** 64 })).toMatchObject({ code: 'SIMULATION_LIMIT' })
  expect(refusal({ timestamp: latest }, {})).toMatchObject({ code: 'SIMULATION_LIMIT' })
})

test('blocks are bounded with their gaps', () => {
  const { blocks } = SIMULATE_LIMITS
  expect(place({ number: 10 + blocks })).toHaveLength(blocks)
  expect(refusal({ number: 11 + blocks })).toMatchObject({ code: 'SIMULATION_LIMIT' })
  expect(refusal({ number: 2 ** 64 })).toMatchObject({ code: 'SIMULATION_LIMIT' })
  expect(refusal({ number: 10 + blocks }, {})).toMatchObject({ code: 'SIMULATION_LIMIT' })
})
