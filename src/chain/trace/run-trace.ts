import { LIMITS } from '../../config/limits.ts'
import { prepareCall } from '../../evm/call-message.ts'
import type { Engine } from '../../evm/engine.ts'
import type { BlockEnv } from '../../evm/env.ts'
import { createPrefetchedReader, type Prefetcher } from '../../evm/prefetch.ts'
import { Replay, type ReplayContext } from '../../evm/replay.ts'
import { traceCall } from '../../evm/trace-call.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import { createTracer } from '../../evm/tracers/create-tracer.ts'
import type { JsonSink } from '../../evm/tracers/json-sink.ts'
import { createHeld } from '../../evm/tracers/parts.ts'
import type { TraceHooks } from '../../evm/tracers/tracer.ts'
import { openStateReader } from '../../state/history.ts'
import type { StateReader } from '../../state/reader.ts'
import type { Store } from '../../storage/store.ts'
import { assert } from '../../util/assert.ts'
import { isCoded } from '../../util/errors.ts'
import type { BodyRow } from '../body-row.ts'
import type { TraceBlock, TraceRequest } from './protocol.ts'
import type { Stopwatch } from './stopwatch.ts'
import { bodyOf, envOf } from './worker-blocks.ts'

export interface TraceParts {
  readonly store: Store
  readonly params: BlockEnv['params']
  readonly engine: Engine
  readonly tracingEngine: Engine
  readonly sink: JsonSink
  readonly stopwatch: Stopwatch
}

interface OpenState {
  readonly reader: StateReader
  readonly prefetch: Prefetcher | undefined
}

/** Lends the state after a block. Throws MISSING_STATE. */
const withState = async <T>(store: Store, number: number, work: (state: OpenState) => Promise<T>): Promise<T> => {
  const stored = await openStateReader(store, number)
  try {
    return await work(
      stored.sync === undefined ? createPrefetchedReader(stored) : { reader: stored.sync, prefetch: undefined },
    )
  } finally {
    stored.release()
  }
}

const contextOf = (
  { engine, tracingEngine, stopwatch }: TraceParts,
  env: BlockEnv,
  state: OpenState,
): ReplayContext => ({
  ...state,
  env,
  engine,
  tracingEngine,
  interrupt: stopwatch,
})

/** Runs one transaction or call under a tracer and writes the result. */
const traceOne = async (
  { sink, stopwatch }: TraceParts,
  { tracer: config, timeoutMs }: TraceConfig,
  run: (hooks: TraceHooks) => Promise<unknown>,
): Promise<void> => {
  stopwatch.restart(timeoutMs)
  const tracer = createTracer(config, { output: sink, held: createHeld(LIMITS.trace.heldBytes) })
  const flow = stopwatch.around(sink)
  await run({ tracer, flow })
  for (const piece of tracer.result()) {
    sink.write(piece)
    if (flow.isFull) await flow.drained()
    await stopwatch.turn()
  }
}

/** Runs the first transactions of a block without looking. */
const runFirst = async ({ stopwatch }: TraceParts, replay: Replay, body: BodyRow, count: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    await replay.run(body.transaction(index))
    await stopwatch.turn()
  }
}

/** A block's transactions on the state before it. */
const withReplay = async <T>(
  parts: TraceParts,
  block: TraceBlock,
  work: (replay: Replay, body: BodyRow, state: OpenState) => Promise<T>,
): Promise<T> => {
  const { store, params } = parts
  const body = await bodyOf(store, block)
  return withState(store, block.number - 1, async state =>
    work(await Replay.begin(contextOf(parts, envOf(store, params, block), state)), body, state),
  )
}

const traceTransaction = (
  parts: TraceParts,
  { block, index, config }: Extract<TraceRequest, { kind: 'transaction' }>,
): Promise<void> =>
  withReplay(parts, block, async (replay, body) => {
    assert(index < body.count, 'a transaction that is traced stands in its block')
    await runFirst(parts, replay, body, index)
    const place = { blockHash: block.hash, index }
    await traceOne(parts, config, hooks => replay.trace(body.transaction(index), place, hooks))
  })

const traceBlock = (parts: TraceParts, { block, config }: Extract<TraceRequest, { kind: 'block' }>): Promise<void> =>
  withReplay(parts, block, async (replay, body) => {
    const { sink } = parts
    sink.nest('[', ']')
    for (let index = 0; index < body.count; index++) {
      const separator = index === 0 ? '' : ','
      const tx = body.transaction(index)
      sink.nest(`${separator}{"txHash":"${tx.hash}","result":`, '}')
      await traceOne(parts, config, hooks => replay.trace(tx, { blockHash: block.hash, index }, hooks))
      sink.close()
    }
    sink.close()
  })

/** On the state after the block, or between its transactions. */
const traceCallAt = (
  parts: TraceParts,
  { block, call, after, config }: Extract<TraceRequest, { kind: 'call' }>,
): Promise<void> => {
  const { store, params, engine, stopwatch, tracingEngine } = parts
  const env = envOf(store, params, block)
  const run = async ({ reader, prefetch }: OpenState): Promise<void> => {
    const prepared = await prepareCall({ reader, prefetch, env, engine, interrupt: stopwatch }, call)
    await traceOne(parts, config, hooks => traceCall(prepared, tracingEngine, hooks))
  }
  if (after === undefined) return withState(store, block.number, run)
  return withReplay(parts, block, async (replay, body, { prefetch }) => {
    await runFirst(parts, replay, body, Math.min(after, body.count))
    await run({ reader: replay.journal, prefetch })
  })
}

const run = (parts: TraceParts, request: TraceRequest): Promise<void> => {
  switch (request.kind) {
    case 'transaction':
      return traceTransaction(parts, request)
    case 'block':
      return traceBlock(parts, request)
    case 'call':
      return traceCallAt(parts, request)
  }
}

/** Answers a request into the sink. Throws CodedErrors; what has been written then is closed. */
export const runTrace = async (parts: TraceParts, request: TraceRequest): Promise<void> => {
  const { sink, stopwatch } = parts
  try {
    await run(parts, request)
  } catch (error) {
    sink.closeAll()
    throw isInterrupt(error) ? stopwatch.timeout() : error
  } finally {
    sink.flush()
  }
}

const isInterrupt = (error: unknown): boolean => isCoded(error) && error.code === 'EXECUTION_INTERRUPTED'
