import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { Replay } from '../../src/evm/block/replay.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine } from '../../src/evm/engine.ts'
import { loadEngine } from '../../src/evm/engines/select-engine.ts'
import { createPrefetchedReader } from '../../src/evm/prefetched-reader.ts'
import type { TraceHooks } from '../../src/evm/tracer.ts'
import type { StructLogConfig, TracerConfig } from '../../src/evm/tracers/config.ts'
import { createTracer } from '../../src/evm/tracers/create-tracer.ts'
import { JsonSink } from '../../src/evm/tracers/json-sink.ts'
import { createMemoryCounter } from '../../src/evm/tracers/tracer-context.ts'
import type { Receipt } from '../../src/primitives/receipt/receipt.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import type { StateReader } from '../../src/state/state-reader.ts'

export const engine: Engine = await loadEngine('wasm')

export const STRUCT_LOGS: StructLogConfig = {
  name: 'structLogger',
  disableStorage: false,
  disableStack: false,
  enableMemory: false,
  enableReturnData: false,
  limit: 0,
}
export const CALLS = { name: 'callTracer', onlyTopCall: false, withLog: true } as const
export const PRESTATE = {
  name: 'prestateTracer',
  diffMode: false,
  disableCode: false,
  disableStorage: false,
  includeEmpty: false,
} as const

/** Runs `work` under a tracer and answers its JSON. */
const traced = async <T>(
  config: TracerConfig,
  work: (hooks: TraceHooks) => Promise<T>,
): Promise<{ readonly json: unknown; readonly done: T }> => {
  const chunks: Buffer[] = []
  const sink = new JsonSink({
    emit: chunk => chunks.push(chunk),
    chunkChars: 1_000,
    limitBytes: 2 ** 30,
    credits: Number.POSITIVE_INFINITY,
  })
  const tracer = createTracer(config, { output: sink, memory: createMemoryCounter(2 ** 30) })
  const done = await work({ tracer, backpressure: sink })
  for (const piece of tracer.result()) sink.write(piece)
  sink.flush()
  return { json: JSON.parse(Buffer.concat(chunks).toString()), done }
}

/** A state that answers at once, and the same one that has to be asked ahead. */
const contextOf = (state: StateReader, env: BlockEnv, ahead: boolean, tracing: Engine) => {
  const base = { env, engine: tracing, interrupt: undefined }
  if (!ahead) return { ...base, reader: state, prefetch: undefined }
  return {
    ...base,
    ...createPrefetchedReader({
      account: async address => state.account(address),
      storage: async (address, slot) => state.storage(address, slot),
      code: async address => state.code(address),
      release: () => {},
    }),
  }
}

interface TracedResult {
  readonly json: unknown
  readonly receipt: Receipt
}

/** Traces every transaction of a block; the state before it is read in both ways, and what is seen must be the same. */
export const traceAll = async (
  state: StateReader,
  env: BlockEnv,
  transactions: readonly Transaction[],
  config: TracerConfig,
  tracing = engine,
): Promise<readonly TracedResult[]> => {
  const run = async (ahead: boolean): Promise<TracedResult[]> => {
    const replay = await Replay.begin(contextOf(state, env, ahead, tracing))
    const results: TracedResult[] = []
    for (const [index, tx] of transactions.entries()) {
      const { json, done } = await traced(config, hooks => replay.trace(tx, { blockHash: ZERO_HASH, index }, hooks))
      results.push({ json, receipt: done })
    }
    return results
  }
  const [plain, ahead] = [await run(false), await run(true)]
  if (JSON.stringify(plain.map(({ json }) => json)) !== JSON.stringify(ahead.map(({ json }) => json)))
    throw new Error('a trace depends on how the state is read')
  return plain
}
