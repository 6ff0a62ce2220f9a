import { bigintToBytes, EMPTY_BYTES, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { CallMessage } from '../../evm/calls/message/call-args.ts'
import type { AccessListEntry, Authorization } from '../../primitives/transaction/transaction.ts'
import { serverError } from '../errors.ts'
import { type Codec, codec } from '../router/method-description.ts'
import type { JsonSchema } from '../router/raw-json.ts'
import { asArray, asObject, type JsonObject, member, within } from './object.ts'
import {
  ADDRESS_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  invalidValue,
  parseAddress,
  parseBytes,
  parseHash,
  parseQuantity,
  parseUint64,
} from './scalars.ts'
import { quantities } from './schemas.ts'

/** Call object of docs/interface.md#call as sent by the client: absent members are undefined. */
export interface TransactionArgs {
  /** Type of the transaction to be made; 3 for one with blobs. */
  readonly type: bigint | undefined
  readonly from: Hex | undefined
  readonly to: Hex | undefined
  readonly gas: bigint | undefined
  readonly gasPrice: bigint | undefined
  readonly maxFeePerGas: bigint | undefined
  readonly maxPriorityFeePerGas: bigint | undefined
  readonly value: bigint | undefined
  /** `input` takes precedence over `data`. */
  readonly data: Uint8Array | undefined
  readonly accessList: readonly AccessListEntry[] | undefined
  readonly authorizationList: readonly Authorization[] | undefined
  readonly nonce: Nonce | undefined
  readonly chainId: bigint | undefined
}

const ACCESS_LIST_LIMIT = 10_000
/** Limits the signature recoveries of one call, which gas estimation repeats. */
const AUTHORIZATION_LIMIT = 256

const BYTE_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]?)$' }

const ACCESS_LIST_SCHEMA: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['address', 'storageKeys'],
    properties: { address: ADDRESS_SCHEMA, storageKeys: { type: 'array', items: HASH_SCHEMA } },
  },
}

const AUTHORIZATION_LIST_SCHEMA: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: AUTHORIZATION_LIMIT,
  items: {
    type: 'object',
    required: ['chainId', 'address', 'nonce', 'yParity', 'r', 's'],
    properties: {
      ...quantities('chainId', 'r', 's'),
      address: ADDRESS_SCHEMA,
      nonce: { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,15})$' },
      yParity: BYTE_SCHEMA,
    },
  },
}

const parseAccessList = (value: unknown): readonly AccessListEntry[] => {
  let entries = 0
  const count = <T>(item: T): T => (++entries > ACCESS_LIST_LIMIT ? invalidValue('access list too long') : item)
  return asArray(value, 'types.AccessList').map(item => {
    const object = asObject(count(item), 'types.AccessTuple')
    return {
      address: within('address', () => parseAddress(object['address'])),
      storageKeys:
        member(object, 'storageKeys', keys => asArray(keys, '[]common.Hash').map(key => parseHash(count(key)))) ?? [],
    }
  })
}

const parseAuthorization = (value: unknown): Authorization => {
  const object = asObject(value, 'types.SetCodeAuthorization')
  const number = (name: string, bits?: number) => within(name, () => parseQuantity(object[name], bits))
  return {
    chainId: number('chainId'),
    address: within('address', () => parseAddress(object['address'])),
    nonce: number('nonce', 64),
    yParity: Number(number('yParity', 8)),
    r: bigintToBytes(number('r')),
    s: bigintToBytes(number('s')),
  }
}

const parseAuthorizations = (value: unknown): readonly Authorization[] => {
  const items = asArray(value, '[]types.SetCodeAuthorization')
  return items.length > AUTHORIZATION_LIMIT
    ? invalidValue('authorization list too long')
    : items.map(parseAuthorization)
}

const parseArgs = (value: unknown): TransactionArgs => {
  const object: JsonObject = asObject(value, 'ethapi.TransactionArgs')
  const wei = (name: string) => member(object, name, inner => parseQuantity(inner))
  const data = member(object, 'data', parseBytes)
  const hasBlobs = object['blobs'] != null || object['blobVersionedHashes'] != null
  return {
    type: hasBlobs ? 3n : member(object, 'type', inner => parseQuantity(inner, 8)),
    from: member(object, 'from', parseAddress),
    to: member(object, 'to', parseAddress),
    gas: member(object, 'gas', inner => parseQuantity(inner, 64)),
    gasPrice: wei('gasPrice'),
    maxFeePerGas: wei('maxFeePerGas'),
    maxPriorityFeePerGas: wei('maxPriorityFeePerGas'),
    value: wei('value'),
    data: member(object, 'input', parseBytes) ?? data,
    accessList: member(object, 'accessList', parseAccessList),
    authorizationList: member(object, 'authorizationList', parseAuthorizations),
    nonce: member(object, 'nonce', parseUint64),
    chainId: wei('chainId'),
  }
}

const CALL_MEMBERS: Readonly<Record<string, JsonSchema>> = {
  type: BYTE_SCHEMA,
  from: ADDRESS_SCHEMA,
  to: { anyOf: [ADDRESS_SCHEMA, { type: 'null' }] },
  ...quantities('gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'value', 'nonce', 'chainId'),
  input: DATA_SCHEMA,
  data: DATA_SCHEMA,
  accessList: ACCESS_LIST_SCHEMA,
  authorizationList: AUTHORIZATION_LIST_SCHEMA,
}

export const callObject: Codec<TransactionArgs> = codec('call', { type: 'object', properties: CALL_MEMBERS }, parseArgs)

/** Rejects a call with both fee styles, with a tip above the fee cap, or with authorizations that no transaction can have. */
export const checkCallArgs = (args: TransactionArgs): void => {
  const { authorizationList, to } = args
  if (authorizationList !== undefined && to === undefined)
    throw serverError('EIP-7702 transaction cannot be used to create contract')
  if (authorizationList?.length === 0) throw serverError('EIP-7702 transaction with empty auth list')
  if (args.gasPrice !== undefined && (args.maxFeePerGas !== undefined || args.maxPriorityFeePerGas !== undefined))
    throw serverError('both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified')
  if (
    args.maxFeePerGas !== undefined &&
    args.maxPriorityFeePerGas !== undefined &&
    args.maxFeePerGas < args.maxPriorityFeePerGas
  )
    throw serverError(`maxFeePerGas (${args.maxFeePerGas}) < maxPriorityFeePerGas (${args.maxPriorityFeePerGas})`)
}

/** Builds the message that a call executes. */
export const callMessageFromArgs = (args: TransactionArgs): CallMessage => {
  checkCallArgs(args)
  const { type: _, from = ZERO_ADDRESS, to = null, value = 0n, data = EMPTY_BYTES, ...rest } = args
  return { from, to, value, data, ...defined(rest) }
}
