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
import { type BlockRef, blockNumberOf } from '../../router/block-reads.ts'
import { type Context, partOf } from '../../router/context.ts'
import { type MethodTable, method, type Slot } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { type JsonSchema, StreamedJson } from '../../router/raw-json.ts'
import type { TraceAnswer, TracedBlock, TracePort } from '../../trace-port.ts'

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

const portOf = (context: Context) => partOf(context, 'trace')

export const TRACES: Slot = { limits: TRACE_LIMITS.slots, what: 'traces', isWhileRead: true }

/** Response of the trace port; it starts when it is read. */
export const traced = (context: Context, open: (port: TracePort) => TraceAnswer): StreamedJson =>
  new StreamedJson(() => open(portOf(context)))

/** Returns a committed block that has at least `count` transactions. */
export const committed = async ({ view }: Context, ref: BlockRef, count = 0): Promise<TracedBlock> => {
  if (ref === 'pending') throw PENDING
  const number = await blockNumberOf(view, ref)
  const found = await view.blockByNumber(number)
  if (found === undefined) throw serverError(`block #${number} not found`)
  if (count > found.transactions.length)
    throw serverError(`transaction index ${count} out of range for block ${found.hash}`)
  return found
}

const traceTransaction = async (context: Context, id: Hex, config: TraceConfig = DEFAULT_TRACE) => {
  const { view } = context
  const place = await view.locate(id)
  const found = place && (await view.blockByNumber(place.number))
  if (place === undefined || found === undefined) throw serverError('transaction not found')
  return traced(context, port => port.transaction(found, place.index, config))
}

const traceBlock = async (context: Context, ref: BlockRef, config: TraceConfig = DEFAULT_TRACE) => {
  const found = await committed(context, ref)
  if (found.header.number === 0) throw GENESIS
  return traced(context, port => port.block(found, config))
}

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

const BLOCK_TRACE = { result: listOf(objectOf('TransactionTrace', { txHash: HASH_SCHEMA, result: TRACE_SCHEMA })) }

/** Debug methods that execute transactions and calls with a tracer. */
export const debugTrace = {
  debug_traceTransaction: method({
    summary: 'Runs a transaction again with a tracer',
    params: [hash, optional(traceConfig)],
    result: TRACE_SCHEMA,
    requires: 'trace',
    notes: NOTES,
    weight: 50,
    slot: TRACES,
    handler: traceTransaction,
  }),
  debug_traceCall: method({
    summary: 'Runs a call with a tracer, on the state after a block or between its transactions',
    params: [callObject, block, optional(traceCallConfig)],
    result: TRACE_SCHEMA,
    requires: 'trace',
    notes: 'As for eth_call no fee is charged. `txIndex` names how many transactions of the block come before it.',
    weight: 50,
    slot: TRACES,
    handler: async (context, args, ref, config = DEFAULT_TRACE_CALL) => {
      const message = callMessageFromArgs(args)
      const { overrides, blockOverrides, after } = config
      const found = await committed(context, ref, after)
      if (after !== undefined && found.header.number === 0) throw GENESIS
      const call = {
        message,
        number: found.header.number,
        ...defined({ overrides, blockOverrides }),
      }
      return traced(context, port => port.call(found, call, after, config))
    },
  }),
  debug_traceBlockByNumber: method({
    summary: 'Runs the transactions of a block again with a tracer',
    params: [blockNumber, optional(traceConfig)],
    ...BLOCK_TRACE,
    requires: 'trace',
    weight: 50,
    slot: TRACES,
    handler: traceBlock,
  }),
  debug_traceBlockByHash: method({
    summary: 'Runs the transactions of a block again with a tracer',
    params: [hash, optional(traceConfig)],
    ...BLOCK_TRACE,
    requires: 'trace',
    weight: 50,
    slot: TRACES,
    handler: traceBlock,
  }),
  debug_traceBlock: method({
    summary: 'Runs the transactions of a block, given as RLP, again with a tracer',
    params: [data, optional(traceConfig)],
    ...BLOCK_TRACE,
    requires: 'trace',
    notes: 'The block must be one of the chain.',
    weight: 50,
    slot: TRACES,
    handler: (context, encoded, config) => traceBlock(context, hashOfEncoded(encoded), config),
  }),
} satisfies MethodTable
