import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { bytesToHex } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { encodeBlock } from '../../../primitives/block.ts'
import { encodeHeader } from '../../../primitives/header.ts'
import { encodeReceipt } from '../../../primitives/receipt/receipt.ts'
import { block } from '../../codecs/block.ts'
import { DATA_SCHEMA } from '../../codecs/scalars.ts'
import { listOf } from '../../codecs/schemas.ts'
import { jsonData } from '../../encode/hex.ts'
import { RESPONSE_TOO_LARGE } from '../../errors.ts'
import { existingBlock } from '../../router/block-reads.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { RawJson } from '../../router/raw-json.ts'
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
    handler: async ({ view, client }, ref) => {
      const { header } = await existingBlock(view, ref)
      const encoded: string[] = []
      let length = 0
      for (const receipt of (await view.receipts(header.number)) ?? []) {
        await sliceOver(client)
        const text = jsonData(encodeReceipt(receipt))
        length += text.length
        if (length > RPC_LIMITS.answerBytes) throw RESPONSE_TOO_LARGE
        encoded.push(text)
      }
      return new RawJson(`[${encoded.join(',')}]`)
    },
  }),
  debug_getRawTransaction: { ...ethTransactions.eth_getRawTransactionByHash, weight: 50 },
} satisfies MethodTable
