import { EVERY_LOG, packCriteria } from '../../chain/logs/log-criteria.ts'
import { type Codec, codec } from '../codecs/codec.ts'
import { LOG_FILTER_SCHEMA, parseLogCriteria } from '../codecs/filter.ts'
import { ADDRESS_SCHEMA, address, BOOLEAN_SCHEMA, parseBoolean, parseString } from '../codecs/scalars.ts'
import { InvalidArgument, invalidArgument, noSubscription } from '../errors.ts'
import type { Subscription } from './subscription-entry.ts'

const SUBSCRIPTION_KINDS = [
  'newHeads',
  'logs',
  'newPendingTransactions',
  'syncing',
  'newProofHeaders',
  'newWork',
] as const

export const subscriptionKind: Codec<string> = codec('kind', { enum: SUBSCRIPTION_KINDS }, parseString)
/** Second argument of a subscription, decoded once the kind is known. */
export const subscriptionOption: Codec<unknown> = codec(
  'option',
  { anyOf: [LOG_FILTER_SCHEMA, BOOLEAN_SCHEMA, ADDRESS_SCHEMA] },
  value => value,
)

/** Decodes the arguments of a subscription; the meaning of the option depends on the kind. */
export const subscriptionFrom = (namespace: string, kind: string, option: unknown): Subscription => {
  switch (kind) {
    case 'newHeads':
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
      return { kind, criteria: option === undefined ? EVERY_LOG : packCriteria(second(() => parseLogCriteria(option))) }
  }
  throw noSubscription(namespace, kind)
}

const second = <T>(parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw error instanceof InvalidArgument ? invalidArgument(2, error.message) : error
  }
}
