import { createHash } from 'node:crypto'
import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineMessage } from '../../src/evm/engine.ts'
import { loadEngine } from '../../src/evm/engines/select-engine.ts'
import type { Tracer } from '../../src/evm/tracer.ts'
import type { TracerConfig } from '../../src/evm/tracers/config.ts'
import { createTracer } from '../../src/evm/tracers/create-tracer.ts'
import { JsonSink } from '../../src/evm/tracers/json-sink.ts'
import { createMemoryCounter } from '../../src/evm/tracers/tracer-context.ts'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import { executionRulesAt } from '../../src/rules/execution-rules.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import type { StateReader } from '../../src/state/state-reader.ts'
import { resultText } from '../support/evm/compare.ts'
import { SEED } from '../support/seed.ts'
import { nextMessage, randomCase } from './evm/cases.ts'
import { createRandom } from './executor-plans.ts'

/*
 * Traces of random messages: all tracers and the accesses of each. They are those of the interpreter in TypeScript (CASES= for the long
 * form, SEED= for others), and some are frozen as hashes. A change of the generators changes all hashes; then run the long form before they
 * are replaced.
 */
/* Everything that tracers say about one message, as text: two engines agree when the texts are equal. */

const PRESTATE = { name: 'prestateTracer', disableCode: false, disableStorage: false, includeEmpty: true } as const
const STRUCT_LOGS: TracerConfig = {
  name: 'structLogger',
  disableStorage: false,
  disableStack: false,
  enableMemory: true,
  enableReturnData: true,
  limit: 0,
}
const TRACERS: readonly (readonly TracerConfig[])[] = [
  [STRUCT_LOGS, { name: 'flatCallTracer', convertParityErrors: false, includePrecompiles: true }],
  [
    { ...PRESTATE, diffMode: false },
    { ...PRESTATE, diffMode: true },
  ],
  [{ name: 'callTracer', onlyTopCall: false, withLog: true }, { name: '4byteTracer' }],
]

interface Started {
  readonly tracer: Tracer
  readonly text: () => string
}

const start = (config: TracerConfig): Started => {
  const chunks: string[] = []
  const output = new JsonSink({
    emit: chunk => chunks.push(chunk.toString()),
    chunkChars: 2 ** 20,
    limitBytes: 2 ** 30,
    credits: Number.POSITIVE_INFINITY,
  })
  const tracer = createTracer(config, { output, memory: createMemoryCounter(2 ** 30) })
  const text = (): string => {
    for (const piece of tracer.result()) output.write(piece)
    output.flush()
    return chunks.join('')
  }
  return { tracer, text }
}

/** Several tracers in one run, which sees what any of them watches. */
const together = (tracers: readonly Tracer[]): Tracer => ({
  watches: tracers.find(({ watches = 'none' }) => watches !== 'none')?.watches ?? 'none',
  begin: (transaction, state) => tracers.forEach(tracer => void tracer.begin?.(transaction, state)),
  enter: frame => tracers.forEach(tracer => void tracer.enter?.(frame)),
  before: step => tracers.forEach(tracer => void tracer.before?.(step)),
  step: step => tracers.forEach(tracer => void tracer.step?.(step)),
  log: log => tracers.forEach(tracer => void tracer.log?.(log)),
  exit: frame => tracers.forEach(tracer => void tracer.exit?.(frame)),
  end: end => tracers.forEach(tracer => void tracer.end?.(end)),
  result: () => [],
})

const NEVER_FULL = { isFull: false, drained: () => Promise.resolve() }

const traceOf = async (
  engine: Engine,
  state: StateReader,
  env: BlockEnv,
  message: EngineMessage,
  configs: readonly TracerConfig[],
): Promise<readonly string[]> => {
  const started = configs.map(start)
  const tracer = together(started.map(one => one.tracer))
  const journal = new Journal(state)
  const { precompiles } = executionRulesAt(env.params, env.number)
  tracer.begin?.(
    {
      from: message.from,
      to: message.to ?? createAddress(message.from, Number(journal.nonce(message.from)) - 1),
      isCreation: message.to === null,
      gasLimit: message.gas,
      coinbase: env.miner,
      authorities: [],
      precompiles,
      blockNumber: env.number,
      blockHash: null,
      hash: null,
      index: 0,
      logsBefore: 0,
    },
    journal,
  )
  const result = await engine.run(journal, env, message, { trace: { tracer, backpressure: NEVER_FULL } })
  tracer.end?.({ gasUsed: result.gasUsed })
  const failed = result.failure === null ? null : ({ kind: 'revert' } as const)
  return [resultText({ ...result, logs: [], failure: failed }), ...started.map(({ text }) => text())]
}

const accessesOf = async (engine: Engine, state: StateReader, env: BlockEnv, message: EngineMessage) => {
  const seen = new Set<string>()
  const accesses = {
    address: (address: Hex) => void seen.add(address),
    slot: (address: Hex, slot: Hex) => void seen.add(`${address} ${slot}`),
  }
  await engine.run(new Journal(state), env, message, { accesses, discards: true })
  return [...seen].sort().join('\n')
}

/** Returns the results of all tracers and the accesses; tracers run together with those that watch the same opcodes. */
const tracesText = async (
  engine: Engine,
  state: StateReader,
  env: BlockEnv,
  message: EngineMessage,
): Promise<readonly string[]> => {
  try {
    const texts: string[] = []
    for (const configs of TRACERS) texts.push(...(await traceOf(engine, state, env, message, configs)))
    return [...texts, await accessesOf(engine, state, env, message)]
  } catch (error) {
    return [isCoded(error) ? error.code : String(error)]
  }
}

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
