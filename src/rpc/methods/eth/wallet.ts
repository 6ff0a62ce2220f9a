import { bytesToHex, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { TYPED_DATA_LIMITS } from '../../../config/limits/keys.ts'
import type { TypedData, TypedField } from '../../../crypto/keys/typed-data.ts'
import { signingPayload } from '../../../primitives/transaction/transaction-encoding.ts'
import { callObject } from '../../codecs/call.ts'
import { asArray, asObject, within } from '../../codecs/object.ts'
import { address, DATA_SCHEMA, data, HASH_SCHEMA, invalidValue, parseString, quantity } from '../../codecs/scalars.ts'
import { objectOf, STRING_SCHEMA, UNSIGNED_SCHEMA } from '../../codecs/schemas.ts'
import { encodeUnsigned } from '../../encode/transaction.ts'
import { type Method, type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec, named, optional } from '../../router/method-description.ts'
import type { JsonSchema } from '../../router/raw-json.ts'
import {
  filledTransaction,
  ownAccount,
  requireFees,
  resend,
  sendingAccount,
  sendTransaction,
  signPersonalMessage,
  signTransaction,
  withFees,
} from './signing.ts'
import { hashUnlessReverted } from './thrown-reverts.ts'

const OBJECT: JsonSchema = { type: 'object' }
const TEXT: JsonSchema = { type: 'string' }
const FIELD: JsonSchema = { type: 'object', required: ['name', 'type'], properties: { name: TEXT, type: TEXT } }
const TYPES: JsonSchema = { type: 'object', additionalProperties: { type: 'array', items: FIELD } }

const SCHEMA: JsonSchema = {
  anyOf: [
    { type: 'string', maxLength: TYPED_DATA_LIMITS.jsonBytes },
    {
      type: 'object',
      required: ['types', 'primaryType', 'domain', 'message'],
      properties: { types: TYPES, primaryType: TEXT, domain: OBJECT, message: OBJECT },
    },
  ],
}

const TOO_LARGE = `typed data larger than ${TYPED_DATA_LIMITS.jsonBytes} bytes`

const jsonOf = (text: string): unknown => {
  if (text.length > TYPED_DATA_LIMITS.jsonBytes) return invalidValue(TOO_LARGE)
  try {
    return JSON.parse(text)
  } catch {
    return invalidValue('not typed data: want an object, or JSON of one')
  }
}

const textOf = (name: string, value: unknown): string =>
  typeof value === 'string' ? value : invalidValue(`${name}: want a string`)

const fieldsOf = (value: unknown): readonly TypedField[] =>
  asArray(value, '[]Type').map(item => {
    const field = asObject(item, 'Type')
    return { name: textOf('name', field['name']), type: textOf('type', field['type']) }
  })

const parse = (value: unknown): TypedData => {
  if (typeof value === 'object' && JSON.stringify(value).length > TYPED_DATA_LIMITS.jsonBytes)
    return invalidValue(TOO_LARGE)
  const given = typeof value === 'string' ? jsonOf(value) : value
  if (Array.isArray(given)) return invalidValue('typed data of version 1: use eth_signTypedData_v4')
  const object = asObject(given, 'TypedData')
  const types = Object.entries(within('types', () => asObject(object['types'], 'Types')))
  return {
    types: Object.fromEntries(types.map(([name, fields]) => [name, within(`types.${name}`, () => fieldsOf(fields))])),
    primaryType: textOf('primaryType', object['primaryType']),
    domain: within('domain', () => asObject(object['domain'], 'Domain')),
    message: within('message', () => asObject(object['message'], 'Message')),
  }
}

/** Typed data (EIP-712) in the forms wallets send: an object, or its JSON text. */
const typedData: Codec<TypedData> = codec('typedData', SCHEMA, parse)

const password = codec('password', STRING_SCHEMA, parseString)

/** All versions share one implementation: version 4 encodes everything version 3 can express in the same way. */
const signTyped = (notes: string): Method =>
  method({
    summary: 'Signs typed structured data (EIP-712)',
    params: [address, typedData],
    result: DATA_SCHEMA,
    notes,
    handler: async ({ wallet, ...context }, account, typed): Promise<Hex> =>
      bytesToHex(await wallet.signTyped(ownAccount({ wallet, ...context }, account), typed)),
  })

/** Signatures of messages with keys of the node, as applications request them of wallets. */
export const messageSigning: MethodTable = {
  eth_signTypedData_v4: signTyped(
    'The data as an object, or as JSON of one. Members that no type names are passed over.',
  ),
  eth_signTypedData_v3: signTyped('Same as eth_signTypedData_v4.'),
  eth_signTypedData: signTyped('Same as eth_signTypedData_v4; the arrays of version 1 are refused.'),
  personal_sign: method({
    summary: 'Signs a message with the EIP-191 prefix: eth_sign with its arguments the other way round',
    params: [data, address, optional(password)],
    result: DATA_SCHEMA,
    notes: 'A password is passed over.',
    handler: async (context, message, account) =>
      bytesToHex(await signPersonalMessage(context, ownAccount(context, account), message)),
  }),
}

/** Methods that use the node's key store; a public node has no keys and answers `unknown account` (docs/interface.md#authentication). */
export const ethWallet = {
  eth_sign: method({
    summary: 'Signs a message with the EIP-191 prefix',
    params: [address, data],
    result: DATA_SCHEMA,
    handler: async (context, account, message) =>
      bytesToHex(await signPersonalMessage(context, ownAccount(context, account), message)),
  }),
  eth_signTransaction: method({
    summary: 'Signs a transaction without sending it',
    params: [callObject],
    result: DATA_SCHEMA,
    notes: 'A fee must be named: that is checked before the account.',
    handler: async (context, args) => {
      requireFees(args)
      return bytesToHex((await signTransaction(context, ownAccount(context, args.from), args)).raw)
    },
  }),
  eth_fillTransaction: method({
    summary: 'Transaction that a call describes, ready to be signed: gas, nonce and fees are filled in',
    params: [callObject],
    result: objectOf('FilledTransaction', { raw: DATA_SCHEMA, tx: UNSIGNED_SCHEMA }),
    notes: '`raw` is what is signed. The sender may be any account. Without fees or a type it is of type 2.',
    weight: 10,
    handler: async (context, args) => {
      const filled = await filledTransaction(context, args.from ?? ZERO_ADDRESS, withFees(context, args))
      return { raw: bytesToHex(signingPayload(filled)), tx: encodeUnsigned(filled, args.from ?? ZERO_ADDRESS) }
    },
  }),
  eth_sendTransaction: method({
    effect: 'change',
    summary: 'Signs a transaction and submits it',
    params: [callObject],
    result: HASH_SCHEMA,
    notes: 'Gas, nonce and price are filled in where they are absent.',
    handler: async (context, args) =>
      hashUnlessReverted(context, await sendTransaction(context, sendingAccount(context, args.from), args)),
  }),
  eth_resend: method({
    effect: 'change',
    summary: "Replaces one of the node's own pending transactions by the same at another price",
    params: [callObject, optional(named('gasPrice', quantity)), optional(named('gas', quantity))],
    result: HASH_SCHEMA,
    notes:
      'The call names the pending transaction by its nonce, recipient, value and data. The pool takes a replacement at 10 % more.',
    handler: async (context, args, gasPrice, gas) =>
      hashUnlessReverted(context, await resend(context, ownAccount(context, args.from), args, { gasPrice, gas })),
  }),
} satisfies MethodTable
