import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockNumberRef } from '../router/block-reads.ts'
import { type Codec, codec } from '../router/method-description.ts'
import { blockNumber } from './block.ts'
import { asArray, asObject, member, plainMember, within } from './object.ts'
import { ADDRESS_SCHEMA, HASH_SCHEMA, invalidValue, parseAddress, parseHash, parseHex } from './scalars.ts'

/** Log filter: null in `topics[i]` matches any topic, else the entry is a list of alternatives; no address matches any. */
export interface LogFilterArgs {
  readonly fromBlock: BlockNumberRef | undefined
  readonly toBlock: BlockNumberRef | undefined
  readonly blockHash: Hex | undefined
  readonly addresses: readonly Hex[]
  readonly topics: readonly (readonly Hex[] | null)[]
}

const ADDRESS_LIMIT = 1_000
const ALTERNATIVES_LIMIT = 1_000
const TOPIC_POSITIONS = 4

const parseAddresses = (value: unknown): readonly Hex[] => {
  if (typeof value === 'string') return [parseAddress(value)]
  const items = asArray(value, 'common.Address')
  if (items.length > ADDRESS_LIMIT) return invalidValue(`more than ${ADDRESS_LIMIT} addresses`)
  return [...new Set(items.map(addressAt))]
}

const addressAt = (value: unknown, index: number): Hex => {
  if (typeof value !== 'string') return invalidValue(`non-string address at index ${index}`)
  const hex = within(`invalid address at index ${index}`, () => parseHex(value))
  if (hex.length !== 42)
    return invalidValue(
      `invalid address at index ${index}: hex has invalid length ${(hex.length - 2) / 2} after decoding`,
    )
  return hex
}

const parseTopics = (value: unknown): readonly (readonly Hex[] | null)[] => {
  const positions = asArray(value, '[]common.Hash')
  if (positions.length > TOPIC_POSITIONS) return invalidValue('exceed max topics')
  return positions.map(position => {
    if (position === null) return null
    if (typeof position === 'string') return [parseHash(position)]
    return Array.isArray(position) ? parseAlternatives(position) : invalidValue('invalid topic(s)')
  })
}

/** null among alternatives matches any topic, as an empty list does. */
const parseAlternatives = (items: readonly unknown[]): readonly Hex[] | null => {
  if (items.length > ALTERNATIVES_LIMIT) return invalidValue(`more than ${ALTERNATIVES_LIMIT} alternatives of a topic`)
  if (items.length === 0 || items.includes(null)) return null
  return [...new Set(items.map(parseHash))]
}

export const LOG_FILTER_SCHEMA = {
  type: 'object',
  properties: {
    fromBlock: blockNumber.schema,
    toBlock: blockNumber.schema,
    blockHash: HASH_SCHEMA,
    address: { anyOf: [ADDRESS_SCHEMA, { type: 'array', items: ADDRESS_SCHEMA }] },
    topics: { type: 'array', items: { anyOf: [{ type: 'null' }, HASH_SCHEMA, { type: 'array', items: HASH_SCHEMA }] } },
  },
}

export const parseLogCriteria = (value: unknown): LogFilterArgs => {
  const object = asObject(value, 'filters.input')
  const criteria: LogFilterArgs = {
    blockHash: member(object, 'blockHash', parseHash),
    // Decoded without the member's name in the error: a rejected tag must give the exact text of docs/interface.md#block-parameter.
    fromBlock: plainMember(object, 'fromBlock', blockNumber.parse),
    toBlock: plainMember(object, 'toBlock', blockNumber.parse),
    addresses: plainMember(object, 'address', parseAddresses) ?? [],
    topics: plainMember(object, 'topics', parseTopics) ?? [],
  }
  if (criteria.blockHash !== undefined && (criteria.fromBlock !== undefined || criteria.toBlock !== undefined))
    return invalidValue('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
  return criteria
}

export const logFilter: Codec<LogFilterArgs> = codec('filter', LOG_FILTER_SCHEMA, parseLogCriteria)
