import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { bytesToHex, toQuantity } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { FailedExecution } from '../../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../../primitives/receipt/internal-transfer.ts'
import { block } from '../../codecs/block.ts'
import { DATA_SCHEMA, hash, index, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { addresses, listOf, objectOf, orNull, quantities, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { type BlockRef, findBlock } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import type { JsonSchema } from '../../router/raw-json.ts'

const FAILED_SCHEMA = objectOf('FailedTransaction', {
  transactionIndex: QUANTITY_SCHEMA,
  error: STRING_SCHEMA,
  output: DATA_SCHEMA,
})

const encodeFailure = ({ transactionIndex, error, output }: FailedExecution): object => ({
  transactionIndex: toQuantity(transactionIndex),
  error,
  output: bytesToHex(output),
})

/** Returns what lists the items of a block behind the first `skipped` ones as `name`, as far as one response has room. */
const pageOf =
  <Item>(
    name: string,
    read: (view: ChainView, number: number) => Promise<Iterable<Item>>,
    encode: (item: Item) => object,
  ) =>
  async ({ view, client }: Context, ref: BlockRef, skipped = 0): Promise<object | null> => {
    const found = ref === 'pending' ? undefined : await findBlock(view, ref)
    if (found === undefined) return null
    const page: object[] = []
    let at = 0
    for (const item of await read(view, found.header.number)) {
      await sliceOver(client)
      if (at++ < skipped) continue
      if (page.length === RPC_LIMITS.logResults)
        return { blockHash: found.hash, [name]: page, next: toQuantity(at - 1) }
      page.push(encode(item))
    }
    return { blockHash: found.hash, [name]: page, next: null }
  }

/** Schema of such a list. */
const pageSchema = (title: string, name: string, item: JsonSchema): JsonSchema =>
  orNull(objectOf(title, { blockHash: hash.schema, [name]: listOf(item), next: orNull(QUANTITY_SCHEMA) }))

const TRANSFER_SCHEMA = objectOf('InternalTransfer', {
  ...quantities('transactionIndex', 'value'),
  ...addresses('from', 'to'),
  type: STRING_SCHEMA,
})

const encodeTransfer = ({ transactionIndex, kind, from, to, value }: BlockInternalTransfer): object => ({
  transactionIndex: toQuantity(transactionIndex),
  type: kind,
  from,
  to,
  value: toQuantity(value),
})

/** Reads of what code moved, and of the causes of failures (docs/design/evm-engine.md). */
export const nativeExecutions = {
  native_getInternalTransfers: method({
    summary: 'Wei that contracts of a block moved, and contracts that they created',
    params: [block, optional(index)],
    result: pageSchema('InternalTransfers', 'transfers', TRANSFER_SCHEMA),
    notes: `In order of execution, only what took effect; \`type\` is call, create or selfdestruct. At most ${RPC_LIMITS.logResults}: \`next\` is the second argument for those after them. null for the pending block. None for blocks that the node did not execute.`,
    weight: 5,
    handler: pageOf('transfers', (view, number) => view.internalTransfers(number), encodeTransfer),
  }),
  native_getFailedTransactions: method({
    summary: 'Causes of the failures of a block’s transactions',
    params: [block, optional(index)],
    result: pageSchema('FailedTransactions', 'failed', FAILED_SCHEMA),
    notes: `In their order; \`error\` is \`execution reverted\` or why code stopped, \`output\` the first bytes of what a revert returned. At most ${RPC_LIMITS.logResults}: \`next\` is the second argument for those after them. null for the pending block. None for blocks that the node did not execute.`,
    handler: pageOf('failed', (view, number) => view.failedExecutions(number), encodeFailure),
  }),
} satisfies MethodTable
