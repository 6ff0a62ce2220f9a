import { bytesToHex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import type { EngineMessage } from '../../src/evm/engine.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import { outcomeOf } from '../support/evm/compare.ts'
import { SEED } from '../support/seed.ts'
import { randomCase, variantOf } from './evm/cases.ts'
import { DifferentialRun } from './evm/differential.ts'
import { loadRealContracts } from './evm/real-contracts.ts'
import { createRandom } from './executor-plans.ts'

/*
 * The interpreter in WebAssembly against the one in TypeScript: random worlds and messages, some also with too little gas at some point of their run. Gas, refund, output, logs, state, accounts destroyed and the kind of failure must be equal. CASES= for the long
 * form, SEED= for others; the number of a case that differs is its seed.
 */
const CASES = Number(process.env['CASES'] ?? 800)
/** Other messages to the world of a case. */
const VARIANTS = 5

const REAL = loadRealContracts({ compiled: process.env['CASES'] !== undefined })
/** One case in so many runs with too little gas at this many points. */
const LADDER = { of: 60, points: 24 }

test(
  `${CASES} random messages come to the same on all engines (SEED=${SEED})`,
  async () => {
    const oracle = createInterpreter()
    let elsewhere = 0
    let runs = 0
    const fallback = () => {
      elsewhere++
      return oracle
    }
    const wasm = createWasmEngine(fallback)
    const counts = { failed: 0, succeeded: 0, short: 0 }
    for (let i = 0; i < CASES; i++) {
      const seed = SEED + i
      const random = createRandom(seed)
      const { state, env, message, fork } = randomCase(random, REAL)
      const compare = async (sent: EngineMessage) => {
        runs++
        const expected = await outcomeOf(oracle, state, env, sent)
        const got = await outcomeOf(wasm, state, env, sent)
        if (got.text !== expected.text) {
          const codes = [...state.accounts].map(([at]) => `${at} ${bytesToHex(state.code(at))}`)
          const where = `case ${seed}, ${fork}, gas ${sent.gas}, to ${sent.to}, data ${bytesToHex(sent.data)}`
          expect(`${where}\n${codes.join('\n')}\n${got.text}`).toBe(`${where}\n${codes.join('\n')}\n${expected.text}`)
        }
        return expected
      }
      const { result } = await compare(message)
      counts[result?.failure === null ? 'succeeded' : 'failed']++
      for (let variant = 0; variant < VARIANTS; variant++) await compare(variantOf(message, random))
      if (result === undefined || result.gasUsed === 0n || !random.chance(3)) continue
      counts.short++
      const withGas = (gas: bigint) => compare({ ...message, gas })
      await withGas((result.gasUsed * BigInt(random.int(1_000))) / 1_000n)
      await withGas(result.gasUsed - 1n)
      if (!random.chance(LADDER.of / 3)) continue
      for (let point = 0; point < LADDER.points; point++)
        await withGas((result.gasUsed * BigInt(random.int(100_000))) / 100_000n)
    }
    console.log(`${CASES} cases, ${runs} runs: ${JSON.stringify(counts)}, ${elsewhere} run elsewhere`)
    expect(counts.succeeded).toBeGreaterThan(CASES / 10)
    expect(counts.failed).toBeGreaterThan(CASES / 20)
    expect(elsewhere).toBeLessThan(1 + runs / 40)
  },
  24 * 3_600_000,
)

/** Worlds of the long form (bench/differential.ts), with every engine on each message of a few. */
const WORLDS = 12

test(`${WORLDS} worlds of the long form come to the same on all engines (SEED=${SEED})`, async () => {
  const run = new DifferentialRun({ messagesPerWorld: 30, ethereumJsMessages: 10 }, REAL)
  for (let world = SEED; world < SEED + WORLDS; world++) expect((await run.world(world))?.text).toBeUndefined()
  const { messages, ethereumJs, succeeded } = run.counts
  expect(messages).toBeGreaterThanOrEqual(WORLDS)
  expect(Math.min(ethereumJs, succeeded)).toBeGreaterThan(0)
}, 60_000)
