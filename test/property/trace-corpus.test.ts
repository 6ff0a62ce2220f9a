import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import { loadEngine } from '../../src/evm/engines/select-engine.ts'
import { nextMessage, randomCase } from '../support/evm/cases.ts'
import { tracesText } from '../support/evm/traces.ts'
import { SEED } from '../support/seed.ts'
import { createRandom } from './executor-plans.ts'

/*
 * Traces of random messages: all tracers and the accesses of each. They are those of the interpreter in TypeScript (CASES= for the long
 * form, SEED= for others), and some are frozen as hashes. A change of the generators changes all hashes; then run the long form before they
 * are replaced.
 */
const CASES = Number(process.env['CASES'] ?? 200)

const WORLDS = 300
const MESSAGES = 4
const WORLDS_PER_HASH = 50

test('traces of random messages are the frozen ones', async () => {
  const engine = await loadEngine('wasm')
  const hashes: string[] = []
  for (let first = 0; first < WORLDS; first += WORLDS_PER_HASH) {
    const hash = createHash('sha256')
    for (let world = first; world < first + WORLDS_PER_HASH; world++) {
      const random = createRandom(world)
      const { state, env, message } = randomCase(random)
      let next = message
      for (let i = 0; i < MESSAGES; i++, next = nextMessage(next, random))
        for (const text of await tracesText(engine, state, env, next)) hash.update(text)
    }
    hashes.push(hash.digest('hex').slice(0, 16))
  }
  expect(hashes).toEqual(FROZEN)
}, 120_000)

test(
  `traces of ${CASES} random messages are those of the interpreter (SEED=${SEED})`,
  async () => {
    const [engine, oracle] = [await loadEngine('wasm'), createInterpreter()]
    let traced = 0
    for (let world = SEED; traced < CASES; world++) {
      const random = createRandom(world)
      const { state, env, message } = randomCase(random)
      let next = message
      for (let i = 0; i < MESSAGES && traced < CASES; i++, traced++, next = nextMessage(next, random)) {
        const [found, expected] = [
          await tracesText(engine, state, env, next),
          await tracesText(oracle, state, env, next),
        ]
        expect(found, `world ${world}, message ${i}`).toEqual(expected)
      }
    }
  },
  24 * 3_600_000,
)

const FROZEN = [
  'f83dab798cc6a452',
  '8e7a0e667cf658ee',
  '4d491c8d239ca674',
  '5198d0ce877bf944',
  'aef664d0b1a575cc',
  '1d6973460d9ba7fb',
]
