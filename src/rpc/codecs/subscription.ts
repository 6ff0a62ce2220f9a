import { type Codec, codec } from './codec.ts'
import { LOG_FILTER_SCHEMA } from './filter.ts'
import { ADDRESS_SCHEMA, BOOLEAN_SCHEMA, parseString } from './scalars.ts'

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
