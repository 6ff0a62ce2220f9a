import { uint64FromBigint } from '@tandem/base/uint64.ts'
import type { BlockNumberRef, BlockRef } from '../router/block-reads.ts'
import { type Codec, codec } from '../router/method-description.ts'
import { HASH_SCHEMA, invalidValue, jsonKind, parseHash, parseQuantity, QUANTITY_SCHEMA } from './scalars.ts'

const TAGS = ['latest', 'pending', 'earliest'] as const
const MAX_NUMBER = 2n ** 63n - 1n
const NUMBER_SCHEMA = { anyOf: [QUANTITY_SCHEMA, { enum: TAGS }] }

const parseBlockNumber = (value: unknown): BlockNumberRef => {
  if (value === 'latest' || value === 'pending' || value === 'earliest') return value
  if (typeof value === 'number') return parseJsonNumber(value)
  const number = parseQuantity(value, 64)
  return number > MAX_NUMBER ? invalidValue('block number larger than int64') : uint64FromBigint(number)
}

/** Accepts bare JSON integers as decimal numbers. */
const parseJsonNumber = (value: number): number => {
  if (!Number.isSafeInteger(value)) return invalidValue('block number is not an integer that JSON can carry exactly')
  return value < 0 ? invalidValue('block number is negative') : value
}

const parseBlockRef = (value: unknown): BlockRef => {
  if (typeof value === 'string' && value.length === 66) return parseHash(value)
  if (typeof value !== 'object' || value === null) return parseBlockNumber(value)
  return Array.isArray(value)
    ? invalidValue(`json: cannot unmarshal ${jsonKind(value)} into Go value of type rpc.BlockNumberOrHash`)
    : parseObject(value)
}

/** EIP-1898. Every block here is canonical, so `requireCanonical` changes nothing. */
const parseObject = (value: { blockHash?: unknown; blockNumber?: unknown }): BlockRef => {
  const { blockHash, blockNumber } = value
  if (blockHash !== undefined && blockHash !== null) {
    if (blockNumber !== undefined && blockNumber !== null)
      return invalidValue('cannot specify both BlockHash and BlockNumber, choose one or the other')
    return parseHash(blockHash)
  }
  return blockNumber === undefined || blockNumber === null
    ? invalidValue('neither blockHash nor blockNumber given')
    : parseBlockNumber(blockNumber)
}

export const blockNumber: Codec<BlockNumberRef> = codec('block', NUMBER_SCHEMA, parseBlockNumber)

export const block: Codec<BlockRef> = codec(
  'block',
  {
    anyOf: [
      ...NUMBER_SCHEMA.anyOf,
      HASH_SCHEMA,
      {
        type: 'object',
        properties: { blockHash: HASH_SCHEMA, blockNumber: NUMBER_SCHEMA, requireCanonical: { type: 'boolean' } },
      },
    ],
  },
  parseBlockRef,
)
