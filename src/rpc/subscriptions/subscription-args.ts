import { EVERY_LOG, packCriteria } from '../../chain/store/log-criteria.ts'
import { blockNumber } from '../codecs/block.ts'
import { LOG_FILTER_SCHEMA, parseLogCriteria } from '../codecs/filter.ts'
import { asObject, member, plainMember } from '../codecs/object.ts'
import {
  ADDRESS_SCHEMA,
  address,
  BOOLEAN_SCHEMA,
  parseBoolean,
  parseIndex,
  parseString,
  QUANTITY_SCHEMA,
} from '../codecs/scalars.ts'
import { InvalidArgument, invalidArgument, noSubscription } from '../errors.ts'
import { type Codec, codec } from '../router/method-description.ts'
import type { ResumePoint, Subscription } from './subscription-entry.ts'

const SUBSCRIPTION_KINDS = [
  'newHeads',
  'logs',
  'newPendingTransactions',
  'syncing',
  'newProofHeaders',
  'newWork',
] as const

export const subscriptionKind: Codec<string> = codec('kind', { enum: SUBSCRIPTION_KINDS }, parseString)
const LOG_OPTION_SCHEMA = {
  ...LOG_FILTER_SCHEMA,
  properties: { ...LOG_FILTER_SCHEMA.properties, fromLogIndex: QUANTITY_SCHEMA },
}
/** Second argument of a subscription, decoded once the kind is known. */
export const subscriptionOption: Codec<unknown> = codec(
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
