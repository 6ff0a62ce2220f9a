import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { METHODS } from '../../src/rpc/methods/methods.ts'
import { argumentsFor } from '../conformance/rpc/arguments.ts'
import type { Rig } from '../support/rpc/rig.ts'
import { startSample } from '../support/rpc/sample.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
let rig: Rig
beforeAll(async () => {
  rig = await startSample()
})
afterAll(() => rig.stop())

const hex = fc.oneof(
  fc.constantFrom('0x', '0x0', '0x00', 'safe', 'latest', 'pending', 'earliest', '0x-1', '0xg', ''),
  fc.bigInt({ min: 0n, max: 2n ** 300n }).map(value => `0x${value.toString(16)}`),
  fc.nat(64).map(length => `0x${'a'.repeat(length)}`),
)
const anything = fc.oneof(hex, fc.jsonValue({ maxDepth: 3 }), fc.constant({ __proto__: null }), fc.constant(1e308))
const method = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...Object.keys(METHODS)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'eth_', 'toString', null, 7) },
)
/** Good arguments of the method with some of them replaced, or anything at all. */
const request = fc
  .tuple(method, fc.array(anything, { maxLength: 4 }), fc.nat(6), fc.boolean(), fc.jsonValue({ maxDepth: 1 }))
  .map(([name, junk, mask, mutate, id]) => {
    const good = typeof name === 'string' && Object.hasOwn(METHODS, name) ? argumentsFor(name, rig) : []
    const params = mutate ? good.map((value, i) => ((mask >> i) & 1 ? (junk[i] ?? value) : value)) : junk
    return { jsonrpc: '2.0', ...(id !== null && { id }), method: name, params }
  })

const isId = (id: unknown): boolean => ['number', 'string', 'boolean'].includes(typeof id) || id === null

const checkAnswer = (answer: Record<string, unknown>, sent: { id?: unknown }): void => {
  expect(answer['jsonrpc']).toBe('2.0')
  expect('result' in answer).not.toBe('error' in answer)
  expect(answer['id']).toEqual(isId(sent.id) ? (Object.is(sent.id, -0) ? 0 : sent.id) : null)
  if (!('error' in answer)) return
  const error = answer['error'] as { code: unknown; message: unknown }
  expect(Number.isInteger(error.code)).toBe(true)
  expect(typeof error.message).toBe('string')
  // The parts of the sample never fail by themselves: a crash would be a bug of the decoding.
  expect(error.message).not.toBe('method handler crashed')
}

test('answers every envelope, with its id when it had one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 4, arbitrary: request }, { weight: 1, arbitrary: fc.jsonValue() }),
      async sent => {
        const text = await rig.post(JSON.stringify(sent))
        if (text === '') {
          expect(Array.isArray(sent) || (sent as { id?: unknown }).id === undefined).toBe(true)
          return
        }
        const answer: unknown = JSON.parse(text)
        if (Array.isArray(answer)) return
        checkAnswer(answer as Record<string, unknown>, (sent ?? {}) as { id?: unknown })
      },
    ),
    { seed, numRuns: 3_000 },
  )
})

test('answers batches in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 12 }), async sent => {
      const text = await rig.post(JSON.stringify(sent))
      // An item that is no request is answered too, with id null.
      const expected = sent.filter(item => item.id !== undefined || typeof item.method !== 'string')
      const answers = text === '' ? [] : (JSON.parse(text) as Record<string, unknown>[])
      expect(answers).toHaveLength(expected.length)
      answers.forEach((answer, i) => {
        checkAnswer(answer, expected[i] ?? {})
      })
    }),
    { seed, numRuns: 300 },
  )
})

test('survives bytes that are no JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async text => {
      const body = await rig.post(text)
      if (body !== '') expect(() => JSON.parse(body)).not.toThrow()
    }),
    { seed, numRuns: 1_000 },
  )
})
