import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { loadEngine } from '../../src/evm/engines/select-engine.ts'
import { nextMessage, randomCase } from '../support/evm/cases.ts'
import { tracesText } from '../support/evm/traces.ts'
import { createRandom } from './executor-plans.ts'

/*
 * Traces of random messages, frozen: all tracers and the accesses of each. The hashes were the same for this engine and for the interpreter
 * in TypeScript that it replaced. A change of the generators changes them all; then compare the traces with another engine's before the
 * hashes are replaced.
 */

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

const FROZEN = [
  'f83dab798cc6a452',
  '8e7a0e667cf658ee',
  '4d491c8d239ca674',
  '5198d0ce877bf944',
  'aef664d0b1a575cc',
  '1d6973460d9ba7fb',
]
