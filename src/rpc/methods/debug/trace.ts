import type { Hex } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../../config/limits/clients.ts'
import { keccak256Hex } from '../../../crypto/hash.ts'
import type { TraceConfig } from '../../../evm/tracers/config.ts'
import { RlpCursor } from '../../../primitives/rlp/rlp-cursor.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import { callMessageFromArgs, callObject } from '../../codecs/call.ts'
import { BOOLEAN_SCHEMA, DATA_SCHEMA, data, HASH_SCHEMA, hash, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { INTEGER_SCHEMA, integers, listOf, objectOf, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { DEFAULT_TRACE, DEFAULT_TRACE_CALL, traceCallConfig, traceConfig } from '../../codecs/trace.ts'
import { serverError } from '../../errors.ts'
import type { TracedBlock } from '../../ports.ts'
import { type BlockRef, existingBlock } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import {
  type ContextWith,
  type Method,
  type MethodDeclaration,
  type MethodTable,
  method,
  type Slot,
} from '../../router/method.ts'
import { type Codec, optional } from '../../router/method-description.ts'
import { type JsonSchema, StreamedJson } from '../../router/raw-json.ts'

const STRUCT_LOG_SCHEMA = objectOf(
  'StructLog',
  { ...integers('pc', 'gas', 'gasCost'), op: STRING_SCHEMA, depth: { type: 'integer', minimum: 1 } },
  {
    error: STRING_SCHEMA,
    stack: listOf(QUANTITY_SCHEMA),
    returnData: DATA_SCHEMA,
    memory: listOf(HASH_SCHEMA),
    storage: { type: 'object', additionalProperties: HASH_SCHEMA },
    refund: INTEGER_SCHEMA,
  },
)

const STRUCT_LOGS_SCHEMA = objectOf('StructLogs', {
  gas: INTEGER_SCHEMA,
  failed: BOOLEAN_SCHEMA,
  returnValue: DATA_SCHEMA,
  structLogs: listOf(STRUCT_LOG_SCHEMA),
})

const PENDING = serverError('tracing on top of pending is not supported')
export const GENESIS = serverError('genesis is not traceable')
const NOTES =
  'Without a tracer: a struct log, with the totals behind it. Tracers: callTracer, flatCallTracer, prestateTracer, ' +
  '4byteTracer, noopTracer, muxTracer. A long answer is streamed: a failure after its first megabyte ends the connection, one before it is an error.'

const TRACE_SCHEMA: JsonSchema = { anyOf: [STRUCT_LOGS_SCHEMA, { title: 'Result of the tracer' }] }

/** Context of the methods that run with a tracer. */
export type TracingContext = ContextWith<'trace'>

const TRACES: Slot = { limits: TRACE_LIMITS.slots, what: 'traces', isWhileRead: true }

/** Declares a method whose response another thread makes while it is read. */
export const traceMethod = <const P extends readonly Codec<unknown>[]>(
  declaration: MethodDeclaration<P, 'trace'>,
): Method => method<P, 'trace'>({ ...declaration, requires: 'trace', weight: 50, slot: TRACES })

/** Returns a committed block that has at least `count` transactions. */
export const committed = async ({ view }: Context, ref: BlockRef, count = 0): Promise<TracedBlock> => {
  if (ref === 'pending') throw PENDING
  const found = await existingBlock(view, ref)
  if (count > found.transactions.length)
    throw serverError(`transaction index ${count} out of range for block ${found.hash}`)
  return found
}

const traceTransaction = async ({ view, trace }: TracingContext, id: Hex, config: TraceConfig = DEFAULT_TRACE) => {
  const place = await view.locate(id)
  const found = place && (await view.blockByNumber(place.number))
  if (place === undefined || found === undefined) throw serverError('transaction not found')
  return new StreamedJson(() => trace.transaction(found, place.index, config))
}

const traceBlock = async (context: TracingContext, ref: BlockRef, config: TraceConfig = DEFAULT_TRACE) => {
  const found = await committed(context, ref)
  if (found.header.number === 0) throw GENESIS
  return new StreamedJson(() => context.trace.block(found, config))
}

const blockTrace = traceMethod({
  summary: 'Runs the transactions of a block again with a tracer',
  params: [blockNumber, optional(traceConfig)],
  result: listOf(objectOf('TransactionTrace', { txHash: HASH_SCHEMA, result: TRACE_SCHEMA })),
  handler: traceBlock,
})

/** Returns the hash of an RLP block from its header, the first item; the rest is not decoded. */
const hashOfEncoded = (encoded: Uint8Array): Hex => {
  try {
    const cursor = new RlpCursor(encoded)
    cursor.openList()
    return keccak256Hex(cursor.raw())
  } catch (error) {
    if (isCoded(error)) throw serverError('could not decode block: this is no RLP of a block')
    throw error
  }
}

/** Debug methods that execute transactions and calls with a tracer. */
export const debugTrace = {
  debug_traceTransaction: traceMethod({
    summary: 'Runs a transaction again with a tracer',
    params: [hash, optional(traceConfig)],
    result: TRACE_SCHEMA,
    notes: NOTES,
    handler: traceTransaction,
  }),
  debug_traceCall: traceMethod({
    summary: 'Runs a call with a tracer, on the state after a block or between its transactions',
    params: [callObject, block, optional(traceCallConfig)],
    result: TRACE_SCHEMA,
    notes: 'As for eth_call no fee is charged. `txIndex` names how many transactions of the block come before it.',
    handler: async (context, args, ref, config = DEFAULT_TRACE_CALL) => {
      const message = callMessageFromArgs(args)
      const { overrides, blockOverrides, after } = config
      const found = await committed(context, ref, after)
      if (after !== undefined && found.header.number === 0) throw GENESIS
      const call = { message, number: found.header.number, ...defined({ overrides, blockOverrides }) }
      return new StreamedJson(() => context.trace.call(found, call, after, config))
    },
  }),
  debug_traceBlockByNumber: blockTrace,
  debug_traceBlockByHash: { ...blockTrace, params: [hash, optional(traceConfig)] },
  debug_traceBlock: traceMethod({
    summary: 'Runs the transactions of a block, given as RLP, again with a tracer',
    params: [data, optional(traceConfig)],
    result: blockTrace.result,
    notes: 'The block must be one of the chain.',
    handler: (context, encoded, config) => traceBlock(context, hashOfEncoded(encoded), config),
  }),
} satisfies MethodTable
