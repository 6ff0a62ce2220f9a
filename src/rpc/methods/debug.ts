import type { ChainBlock } from '../../chain/types.ts'
import { encodeBlock } from '../../primitives/block.ts'
import { encodeHeader } from '../../primitives/header.ts'
import { encodeReceipt } from '../../primitives/receipt.ts'
import { assert } from '../../util/assert.ts'
import { bytesToHex } from '../../util/bytes.ts'
import { codec, optional } from '../codec.ts'
import { type BlockRef, block, blockNumber } from '../codecs/block.ts'
import { asObject } from '../codecs/object.ts'
import { DATA_SCHEMA, hash } from '../codecs/scalars.ts'
import type { Context } from '../context.ts'
import { serverError } from '../errors.ts'
import { RawJson } from '../json.ts'
import { type MethodTable, method } from '../method.ts'
import type { TracePort } from '../ports.ts'
import { listOf } from '../schemas.ts'
import { numberOf } from '../state-reads.ts'
import { ethTransactions } from './eth-transactions.ts'

const traceOptions = codec('options', { type: 'object' }, value => asObject(value, 'tracers.TraceConfig'))

const existing = async ({ view }: Context, ref: BlockRef): Promise<ChainBlock> => {
  const number = await numberOf(view, ref)
  const found = await view.blockByNumber(number)
  if (found === undefined) throw serverError(`block #${number} not found`)
  return found
}

const traceOf = ({ trace }: Context): TracePort => {
  assert(trace !== undefined, 'a method is served only where its part exists')
  return trace
}

const traceBlock = async (context: Context, ref: BlockRef, options: unknown): Promise<RawJson> => {
  const { header } = await existing(context, ref)
  const text = await traceOf(context).block(header.number, options)
  if (text === undefined) throw serverError(`block #${header.number} not found`)
  return new RawJson(text)
}

/** Encoded objects and re-execution. */
export const debug = {
  debug_getRawBlock: method({
    summary: 'RLP of a block',
    params: [block],
    result: DATA_SCHEMA,
    handler: async (context, ref) => bytesToHex(encodeBlock(await existing(context, ref))),
  }),
  debug_getRawHeader: method({
    summary: 'RLP of a header',
    params: [block],
    result: DATA_SCHEMA,
    handler: async (context, ref) => bytesToHex(encodeHeader((await existing(context, ref)).header)),
  }),
  debug_getRawReceipts: method({
    summary: "Encoded receipts of a block's transactions",
    params: [block],
    result: listOf(DATA_SCHEMA),
    handler: async (context, ref) => {
      const { header } = await existing(context, ref)
      return ((await context.view.receipts(header.number)) ?? []).map(receipt => bytesToHex(encodeReceipt(receipt)))
    },
  }),
  debug_getRawTransaction: { ...ethTransactions.eth_getRawTransactionByHash },
  debug_traceTransaction: method({
    summary: 'Runs a transaction again with a tracer',
    params: [hash, optional(traceOptions)],
    result: {},
    requires: 'trace',
    handler: async (context, id, options) => {
      const text = await traceOf(context).transaction(id, options)
      if (text === undefined) throw serverError('transaction not found')
      return new RawJson(text)
    },
  }),
  debug_traceBlockByNumber: method({
    summary: 'Runs the transactions of a block again with a tracer',
    params: [blockNumber, optional(traceOptions)],
    result: { type: 'array' },
    requires: 'trace',
    handler: traceBlock,
  }),
  debug_traceBlockByHash: method({
    summary: 'Runs the transactions of a block again with a tracer',
    params: [hash, optional(traceOptions)],
    result: { type: 'array' },
    requires: 'trace',
    handler: traceBlock,
  }),
} satisfies MethodTable
