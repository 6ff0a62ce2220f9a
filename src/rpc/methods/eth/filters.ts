import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { EVERY_LOG, packCriteria } from '../../../chain/store/log-criteria.ts'
import { blockNumber } from '../../codecs/block.ts'
import { LOG_FILTER_SCHEMA, logFilter, parseLogCriteria } from '../../codecs/filter.ts'
import { asObject, member, plainMember } from '../../codecs/object.ts'
import {
  ADDRESS_SCHEMA,
  address,
  BOOLEAN_SCHEMA,
  HASH_SCHEMA,
  parseBoolean,
  parseHash,
  parseIndex,
  parseQuantity,
  parseString,
  QUANTITY_SCHEMA,
} from '../../codecs/scalars.ts'
import { LOG_SCHEMA, listOf } from '../../codecs/schemas.ts'
import { InvalidArgument, invalidArgument, noSubscription, serverError } from '../../errors.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec, optional } from '../../router/method-description.ts'
import { filterText, logsText, queryText } from '../../subscriptions/log-results.ts'
import type { ResumePoint, Subscription } from '../../subscriptions/subscription-entry.ts'

const SUBSCRIPTION_KINDS = [
  'newHeads',
  'logs',
  'newPendingTransactions',
  'syncing',
  'newProofHeaders',
  'newWork',
] as const

const subscriptionKind: Codec<string> = codec('kind', { enum: SUBSCRIPTION_KINDS }, parseString)
const LOG_OPTION_SCHEMA = {
  ...LOG_FILTER_SCHEMA,
  properties: { ...LOG_FILTER_SCHEMA.properties, fromLogIndex: QUANTITY_SCHEMA },
}
/** Second argument of a subscription, decoded once the kind is known. */
const subscriptionOption: Codec<unknown> = codec(
  'option',
  { anyOf: [LOG_OPTION_SCHEMA, BOOLEAN_SCHEMA, ADDRESS_SCHEMA] },
  value => value,
)

/** Decodes the arguments of a subscription; the meaning of the option depends on the kind. */
export const subscriptionFrom = (namespace: string, kind: string, option: unknown): Subscription => {
  switch (kind) {
    case 'newHeads':
      return { kind, from: option === undefined ? undefined : second(() => parseFrom(option)) }
    case 'syncing':
      return { kind }
    case 'newProofHeaders':
      if (namespace === 'native') return { kind }
      break
    case 'newWork':
      if (namespace === 'native')
        return { kind, coinbase: option === undefined ? undefined : second(() => address.parse(option)) }
      break
    case 'newPendingTransactions':
      return { kind, full: option === undefined ? false : second(() => parseBoolean(option)) }
    case 'logs':
      if (option === undefined) return { kind, criteria: EVERY_LOG }
      return second(() => ({ kind, criteria: packCriteria(parseLogCriteria(option)), from: parseFrom(option) }))
  }
  throw noSubscription(namespace, kind)
}

/** `latest` and `pending` begin with the next block, as no position does. */
const parseFrom = (option: unknown): ResumePoint | undefined => {
  const object = asObject(option, 'filters.input')
  const from = plainMember(object, 'fromBlock', blockNumber.parse)
  const to = plainMember(object, 'toBlock', blockNumber.parse)
  if (to !== undefined && to !== 'latest' && to !== 'pending')
    throw new InvalidArgument('toBlock: a subscription has no end; ask eth_getLogs for a range')
  if (member(object, 'blockHash', parseHash) !== undefined)
    throw new InvalidArgument('blockHash: a subscription is to all blocks; ask eth_getLogs for one')
  const log = member(object, 'fromLogIndex', parseIndex) ?? 0
  if (from === undefined || from === 'latest' || from === 'pending') return undefined
  return { block: from === 'earliest' ? 0 : Number(from), log }
}

const second = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw error instanceof InvalidArgument ? invalidArgument(2, error.message) : error
  }
}

const parseId = (value: unknown): Hex => `0x${parseQuantity(value).toString(16)}`

const filterId: Codec<Hex> = codec('filter', QUANTITY_SCHEMA, parseId)
const subscriptionId: Codec<Hex> = codec('subscription', QUANTITY_SCHEMA, parseId)

const socketOf = ({ socket }: Context) => {
  assert(socket !== null, 'the router refuses socket methods over HTTP')
  return socket
}

/** Subscriptions over WebSocket; `namespace` is the prefix of the notification method. */
export const subscriptionsOf = <N extends string>(namespace: N) =>
  ({
    [`${namespace}_subscribe`]: method({
      summary: 'Starts notifications',
      params: [subscriptionKind, optional(subscriptionOption)],
      result: QUANTITY_SCHEMA,
      notes:
        'WebSocket only. `logs` takes a filter object, which with `fromBlock` and `fromLogIndex` begins there, as that of `newHeads` does; `newPendingTransactions` true for whole transactions; native_subscribe also knows `newProofHeaders` and, where work is handed out, `newWork` with the address to pay.',
      socketOnly: true,
      needsId: true,
      handler: (context, kind, option) =>
        socketOf(context).subscribe(namespace, subscriptionFrom(namespace, kind, option)),
    }),
    [`${namespace}_unsubscribe`]: method({
      summary: 'Ends notifications',
      params: [subscriptionId],
      result: BOOLEAN_SCHEMA,
      notes: 'WebSocket only.',
      socketOnly: true,
      handler: (context, id) => {
        if (!socketOf(context).unsubscribe(id)) throw serverError('subscription not found')
        return true
      },
    }),
  }) satisfies MethodTable

/** Log queries and polled filters. A filter that is not polled is dropped after five minutes. */
export const ethFilters = {
  eth_getLogs: method({
    summary: 'Logs of a range of blocks, or of one block by its hash',
    params: [logFilter],
    result: listOf(LOG_SCHEMA),
    notes: 'Any range; at most 10,000 logs, 12 MiB, 10 s. The end of the range is clamped to the head.',
    weight: 20,
    chargesBytes: true,
    handler: (context, criteria) => logsText(context, criteria),
  }),
  eth_newFilter: method({
    summary: 'Makes a filter of logs',
    params: [logFilter],
    result: QUANTITY_SCHEMA,
    handler: ({ filters, client }, criteria) => filters.newLogFilter(criteria, client),
  }),
  eth_newBlockFilter: method({
    summary: 'Makes a filter of new blocks',
    result: QUANTITY_SCHEMA,
    handler: ({ filters, client }) => filters.newBlockFilter(client),
  }),
  eth_newPendingTransactionFilter: method({
    summary: 'Makes a filter of transactions that become executable',
    result: QUANTITY_SCHEMA,
    handler: ({ filters, client }) => filters.newPendingFilter(client),
  }),
  eth_getFilterChanges: method({
    summary: 'Changes of a filter since its last poll',
    params: [filterId],
    result: { anyOf: [listOf(HASH_SCHEMA), listOf(LOG_SCHEMA)] },
    notes: 'More than 10,000 logs are returned in portions.',
    handler: async (context, id) => {
      const changes = await context.filters.changes(id, query => queryText(context, query))
      return 'logs' in changes ? changes.logs : changes.hashes
    },
  }),
  eth_getFilterLogs: method({
    summary: 'All logs of a log filter',
    params: [filterId],
    result: listOf(LOG_SCHEMA),
    weight: 20,
    chargesBytes: true,
    handler: (context, id) => filterText(context, context.filters.criteria(id)),
  }),
  eth_uninstallFilter: method({
    summary: 'Drops a filter; false when there is none of this id',
    params: [filterId],
    result: BOOLEAN_SCHEMA,
    handler: ({ filters }, id) => filters.uninstall(id),
  }),
} satisfies MethodTable
