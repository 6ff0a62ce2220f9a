import { andThen, type MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { toQuantity } from '@tandem/base/bytes.ts'
import type { BlockOverrides, StateOverrides } from '../../../evm/calls/message/call-args.ts'
import type { CallRequest } from '../../../evm/calls/types.ts'
import { block } from '../../codecs/block.ts'
import { callMessageFromArgs, callObject, type TransactionArgs } from '../../codecs/call.ts'
import { blockOverrides, stateOverrides } from '../../codecs/overrides.ts'
import { DATA_SCHEMA, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { ACCESS_LIST_SCHEMA, objectOf, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { invalidArgument } from '../../errors.ts'
import { type BlockRef, blockNumberOf } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { dataResult } from '../../router/large-responses.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'
import { withErrorData } from './thrown-reverts.ts'

/** Returns the block for estimates that name none: in instant mode the next, since its time may be set and gas depend on it. */
export const estimateBlock = ({ dev }: Pick<Context, 'dev'>): 'latest' | 'pending' =>
  dev?.mode.automine ? 'pending' : 'latest'

const requestOf = (
  { view }: Context,
  args: TransactionArgs,
  at: BlockRef,
  overrides?: StateOverrides,
  blockOverrides?: BlockOverrides,
): MaybePromise<CallRequest> => {
  const message = callMessageFromArgs(args)
  return andThen(blockNumberOf(view, at), number => ({
    message,
    number,
    ...(at === 'pending' && { pending: true }),
    ...(overrides !== undefined && { overrides }),
    ...(blockOverrides !== undefined && { blockOverrides }),
  }))
}

/** Throws for a call that names no recipient and creates no contract (docs/interface.md#call). */
const requireRecipient = ({ to, data }: TransactionArgs): void => {
  if (to === undefined && (data === undefined || data.byteLength === 0))
    throw invalidArgument(1, 'to: required unless input or data holds the code of a contract')
}

/** Execution without a transaction: off the main thread, bounded in gas and time (docs/design/evm-rules.md#calls). */
export const ethCall = {
  eth_call: method({
    summary: 'Runs a call on the state after a block',
    params: [callObject, block, optional(stateOverrides), optional(blockOverrides)],
    result: DATA_SCHEMA,
    notes:
      '`input` wins over `data`. `to` is required, unless they hold code, which is executed as the creation of a contract. A revert is error 3 with the output as data. A call that names no price sees a base fee of 0; one below the base fee runs too, other than on geth, while the same transaction would be refused.',
    weight: 5,
    handler: (context, args, at, overrides, blocks) => {
      requireRecipient(args)
      return andThen(requestOf(context, args, at, overrides, blocks), async request => {
        const called = context.calls.call(request, context.client, context.cancellation)
        return dataResult((await withErrorData(context, called)).output)
      })
    },
  }),
  eth_estimateGas: method({
    summary: 'The least gas limit with which a transaction succeeds',
    params: [callObject, optional(block), optional(stateOverrides), optional(blockOverrides)],
    result: QUANTITY_SCHEMA,
    notes: 'The block may be left out: latest; pending where a development chain makes a block for each transaction.',
    weight: 10,
    handler: (context, args, at = estimateBlock(context), overrides, blocks) =>
      andThen(requestOf(context, args, at, overrides, blocks), async request => {
        const estimated = context.calls.estimateGas(request, context.client, context.cancellation)
        return toQuantity(await withErrorData(context, estimated))
      }),
  }),
  eth_createAccessList: method({
    summary: 'Addresses and slots that a transaction touches, as an access list (EIP-2930)',
    params: [callObject, optional(block)],
    result: objectOf(
      'AccessList',
      { accessList: ACCESS_LIST_SCHEMA, gasUsed: QUANTITY_SCHEMA },
      { error: STRING_SCHEMA },
    ),
    weight: 10,
    handler: (context, args, at = 'latest') =>
      andThen(requestOf(context, args, at), async request => {
        const { calls, client, cancellation } = context
        const { accessList, gasUsed, error } = await calls.createAccessList(request, client, cancellation)
        return { accessList, gasUsed: toQuantity(gasUsed), error }
      }),
  }),
} satisfies MethodTable
