import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { bytesToHex, toQuantity } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { FailedExecution } from '../../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../../primitives/receipt/internal-transfer.ts'
import { block } from '../../codecs/block.ts'
import { DATA_SCHEMA, hash, index, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { addresses, listOf, objectOf, orNull, quantities, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { findBlock } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'

const FAILED_SCHEMA = objectOf('FailedTransaction', {
  transactionIndex: QUANTITY_SCHEMA,
  error: STRING_SCHEMA,
  output: DATA_SCHEMA,
})

/** The failures behind the first `skipped` ones, as far as one response has room. */
const failedPageOf = async (
  { client }: Context,
  failures: Iterable<FailedExecution>,
  skipped: number,
): Promise<{ readonly failed: readonly object[]; readonly next: string | null }> => {
  const failed: object[] = []
  let at = 0
  for (const { transactionIndex, error, output } of failures) {
    await sliceOver(client)
    if (at++ < skipped) continue
    if (failed.length === RPC_LIMITS.logResults) return { failed, next: toQuantity(at - 1) }
    failed.push({ transactionIndex: toQuantity(transactionIndex), error, output: bytesToHex(output) })
  }
  return { failed, next: null }
}

/** Reads of the causes of failures (docs/design/evm-engine.md). */
export const nativeFailedTransactions = {
  native_getFailedTransactions: method({
    summary: 'Causes of the failures of a block’s transactions',
    params: [block, optional(index)],
    result: orNull(
      objectOf('FailedTransactions', {
        blockHash: hash.schema,
        failed: listOf(FAILED_SCHEMA),
        next: orNull(QUANTITY_SCHEMA),
      }),
    ),
    notes: `In their order; \`error\` is \`execution reverted\` or why code stopped, \`output\` the first bytes of what a revert returned. At most ${RPC_LIMITS.logResults}: \`next\` is the second argument for those after them. null for the pending block. None for blocks that the node did not execute.`,
    handler: async (context, ref, skipped = 0) => {
      const found = ref === 'pending' ? undefined : await findBlock(context.view, ref)
      if (found === undefined) return null
      const failures = await context.view.failedExecutions(found.header.number)
      return { blockHash: found.hash, ...(await failedPageOf(context, failures, skipped)) }
    },
  }),
} satisfies MethodTable

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

/** The transfers behind the first `skipped` ones, as far as one response has room. */
const pageOf = async (
  { client }: Context,
  transfers: Iterable<BlockInternalTransfer>,
  skipped: number,
): Promise<{ readonly transfers: readonly object[]; readonly next: string | null }> => {
  const page: object[] = []
  let at = 0
  for (const transfer of transfers) {
    await sliceOver(client)
    if (at++ < skipped) continue
    if (page.length === RPC_LIMITS.logResults) return { transfers: page, next: toQuantity(at - 1) }
    page.push(encodeTransfer(transfer))
  }
  return { transfers: page, next: null }
}

/** Reads of what code moved (docs/design/evm-engine.md). */
export const nativeInternalTransfers = {
  native_getInternalTransfers: method({
    summary: 'Wei that contracts of a block moved, and contracts that they created',
    params: [block, optional(index)],
    result: orNull(
      objectOf('InternalTransfers', {
        blockHash: hash.schema,
        transfers: listOf(TRANSFER_SCHEMA),
        next: orNull(QUANTITY_SCHEMA),
      }),
    ),
    notes: `In order of execution, only what took effect; \`type\` is call, create or selfdestruct. At most ${RPC_LIMITS.logResults}: \`next\` is the second argument for those after them. null for the pending block. None for blocks that the node did not execute.`,
    weight: 5,
    handler: async (context, ref, skipped = 0) => {
      const found = ref === 'pending' ? undefined : await findBlock(context.view, ref)
      if (found === undefined) return null
      const transfers = await context.view.internalTransfers(found.header.number)
      return { blockHash: found.hash, ...(await pageOf(context, transfers, skipped)) }
    },
  }),
} satisfies MethodTable
