import { assert } from '@tandem/base/assert.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { prepareCall } from '../../evm/calls/message/call-message.ts'
import { traceCall } from '../../evm/calls/trace-call.ts'
import type { TraceHooks } from '../../evm/tracer.ts'
import type { TraceConfig } from '../../evm/tracers/config.ts'
import { createTracer } from '../../evm/tracers/create-tracer.ts'
import { createMemoryCounter } from '../../evm/tracers/tracer-context.ts'
import { accountRange, modifiedAccounts, storageRange } from './state-requests.ts'
import {
  type LeasedState,
  replayFirst,
  type TraceContext,
  tracedBlockEnv,
  withReplay,
  withState,
} from './trace-context.ts'
import type { TraceRequest } from './worker-protocol.ts'

type RequestOf<Kind extends TraceRequest['kind']> = Extract<TraceRequest, { readonly kind: Kind }>

/** Runs one transaction or call under a tracer and writes the result. */
const traceOne = async (
  { sink, requestTimer }: TraceContext,
  { tracer: config, timeoutMs }: TraceConfig,
  run: (hooks: TraceHooks) => Promise<unknown>,
): Promise<void> => {
  requestTimer.restart(timeoutMs)
  const tracer = createTracer(config, { output: sink, memory: createMemoryCounter(TRACE_LIMITS.heldBytes) })
  const backpressure = requestTimer.around(sink)
  await run({ tracer, backpressure })
  for (const piece of tracer.result()) {
    sink.write(piece)
    if (backpressure.isFull) await backpressure.drained()
    // Partial output of this kind would not be valid JSON, and the output is small.
    await requestTimer.rest()
  }
}

const traceTransaction = (parts: TraceContext, { block, index, config }: RequestOf<'transaction'>): Promise<void> =>
  withReplay(parts, block, async (replay, body) => {
    assert(index < body.count, 'a traced transaction is in its block')
    await replayFirst(parts, replay, body, index)
    const place = { blockHash: block.hash, index }
    await traceOne(parts, config, hooks => replay.trace(body.transaction(index), place, hooks))
  })

const traceBlock = (parts: TraceContext, { block, config }: RequestOf<'block'>): Promise<void> =>
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

/** Traces a call on the state after the block, or between its transactions. */
const traceCallAt = (parts: TraceContext, { block, call, after, config }: RequestOf<'call'>): Promise<void> => {
  const { store, params, engine, requestTimer } = parts
  const env = tracedBlockEnv(store, params, block)
  const run = async ({ reader, prefetch }: Pick<LeasedState, 'reader' | 'prefetch'>): Promise<void> => {
    const prepared = await prepareCall({ reader, prefetch, env, engine, interrupt: requestTimer }, call)
    await traceOne(parts, config, hooks => traceCall(prepared, hooks))
  }
  if (after === undefined) return withState(store, block.number, run)
  return withReplay(parts, block, async (replay, body, { prefetch }) => {
    await replayFirst(parts, replay, body, Math.min(after, body.count))
    await run({ reader: replay.journal, prefetch })
  })
}

const RUNNERS: {
  readonly [Kind in TraceRequest['kind']]: (parts: TraceContext, request: RequestOf<Kind>) => Promise<void>
} = {
  transaction: traceTransaction,
  block: traceBlock,
  call: traceCallAt,
  storageRange,
  accountRange,
  modifiedAccounts,
}

/** Writes the result of a request into the sink. Throws CodedErrors; partial output is closed then. */
export const runTrace = async (parts: TraceContext, request: TraceRequest): Promise<void> => {
  const { sink, requestTimer } = parts
  // Time limit of the replay before a traced transaction, which has a limit of its own.
  const { timeoutMs } = 'config' in request ? request.config : TRACE_LIMITS
  requestTimer.restart(Math.max(timeoutMs, TRACE_LIMITS.timeoutMs))
  try {
    await RUNNERS[request.kind](parts, request as never)
  } catch (error) {
    sink.fail()
    throw isInterrupt(error) ? requestTimer.timeout() : error
  } finally {
    sink.flush()
  }
}

const isInterrupt = (error: unknown): boolean => isCoded(error) && error.code === 'EXECUTION_INTERRUPTED'
