import { TYPED_DATA_LIMITS } from '../../config/limits/keys.ts'
import type { TypedData, TypedField } from '../../crypto/keys/typed-data.ts'
import { type Codec, codec } from '../router/method-description.ts'
import type { JsonSchema } from '../router/raw-json.ts'
import { asArray, asObject, within } from './object.ts'
import { invalidValue } from './scalars.ts'

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
export const typedData: Codec<TypedData> = codec('typedData', SCHEMA, parse)
