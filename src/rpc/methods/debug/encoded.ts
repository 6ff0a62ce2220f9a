import { bytesToHex } from '@tandem/base/bytes.ts'
import { encodeBlock } from '../../../primitives/block.ts'
import { encodeHeader } from '../../../primitives/header.ts'
import { encodeReceipt } from '../../../primitives/receipt/receipt.ts'
import { block } from '../../codecs/block.ts'
import { DATA_SCHEMA } from '../../codecs/scalars.ts'
import { listOf } from '../../codecs/schemas.ts'
import { existingBlock } from '../../router/block-reads.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { ethTransactions } from '../eth/transactions.ts'

/** Debug methods that return encoded objects. */
export const debug = {
  debug_getRawBlock: method({
    summary: 'RLP of a block',
    params: [block],
    result: DATA_SCHEMA,
    weight: 50,
    handler: async (context, ref) => bytesToHex(encodeBlock(await existingBlock(context.view, ref))),
  }),
  debug_getBadBlocks: method({
    summary: 'Invalid blocks: none, since a block is committed only when it is valid',
    result: { type: 'array', maxItems: 0 },
    weight: 50,
    handler: () => [],
  }),
  debug_getRawHeader: method({
    summary: 'RLP of a header',
    params: [block],
    result: DATA_SCHEMA,
    weight: 50,
    handler: async (context, ref) => bytesToHex(encodeHeader((await existingBlock(context.view, ref)).header)),
  }),
  debug_getRawReceipts: method({
    summary: "Encoded receipts of a block's transactions",
    params: [block],
    result: listOf(DATA_SCHEMA),
    weight: 50,
    handler: async (context, ref) => {
      const { header } = await existingBlock(context.view, ref)
      return ((await context.view.receipts(header.number)) ?? []).map(receipt => bytesToHex(encodeReceipt(receipt)))
    },
  }),
  debug_getRawTransaction: { ...ethTransactions.eth_getRawTransactionByHash, weight: 50 },
} satisfies MethodTable
