import { bytesFromDigits, type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { type Uint64, uint64FromBigint } from '@tandem/base/uint64.ts'
import { InvalidArgument } from '../errors.ts'
import { type Codec, codec } from '../router/method-description.ts'
import type { JsonSchema } from '../router/raw-json.ts'

// Texts of decoding errors equal those of the closest public system (docs/design/rpc.md#arguments), since clients match them.

export const QUANTITY_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]*)$' }
export const DATA_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x([0-9a-f]{2})*$' }
export const ADDRESS_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]{40}$' }
export const HASH_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]{64}$' }
export const BOOLEAN_SCHEMA: JsonSchema = { type: 'boolean' }

const HEX_DIGITS = /^[0-9a-fA-F]*$/

export const invalidValue = (reason: string): never => {
  throw new InvalidArgument(reason)
}

const stringOf = (value: unknown, type: string): string =>
  typeof value === 'string' ? value : invalidValue(`json: cannot unmarshal non-string into Go value of type ${type}`)

const digitsOf = (text: string): string => {
  if (text.length === 0) return invalidValue('empty hex string')
  if (text.charCodeAt(0) !== 48 || (text.charCodeAt(1) | 32) !== 120)
    return invalidValue('hex string without 0x prefix')
  return text.slice(2)
}

/** Decodes a QUANTITY of at most `bits` (docs/interface.md#encoding). */
export const parseQuantity = (value: unknown, bits = 256): bigint => {
  const digits = digitsOf(stringOf(value, bits === 64 ? 'hexutil.Uint64' : '*hexutil.Big'))
  if (digits.length === 0) return invalidValue('hex string "0x"')
  if (digits.charCodeAt(0) === 48 && digits.length > 1) return invalidValue('hex number with leading zero digits')
  if (digits.length > bits / 4) return invalidValue(`hex number > ${bits} bits`)
  if (!HEX_DIGITS.test(digits)) return invalidValue('invalid hex string')
  return BigInt(`0x${digits}`)
}

/** Decodes a QUANTITY of at most 64 bits. */
export const parseUint64 = (value: unknown): Uint64 => uint64FromBigint(parseQuantity(value, 64))

/** Decodes a position in a list. No list is so long that digits of a larger one, which are lost, matter. */
export const parseIndex = (value: unknown): number => Number(parseQuantity(value, 64))

/** Returns the digits of DATA, of which there is an even number. */
const dataDigits = (value: unknown, type = 'hexutil.Bytes'): string => {
  const digits = digitsOf(stringOf(value, type))
  if (digits.length % 2 !== 0) return invalidValue('hex string of odd length')
  // Node's own decoder takes a character of two bytes for the digit in its lower one.
  if (!HEX_DIGITS.test(digits)) return invalidValue('invalid hex string')
  return digits
}

/** Decodes DATA and lower-cases it (docs/interface.md#encoding). */
export const parseHex = (value: unknown, type?: string): Hex => `0x${dataDigits(value, type).toLowerCase()}`

const fixed = (value: unknown, digits: number, type: string): Hex => {
  // Fast path: one regular expression for a string of the right length that starts with 0x.
  if (
    typeof value === 'string' &&
    value.length === digits + 2 &&
    value.startsWith('0x') &&
    HEX_DIGITS.test(value.slice(2))
  )
    return value.toLowerCase() as Hex
  const hex = parseHex(value, type)
  if (hex.length === digits + 2) return hex
  return invalidValue(`hex string has length ${hex.length - 2}, want ${digits} for ${type}`)
}

export const parseAddress = (value: unknown): Hex => fixed(value, 40, 'common.Address')
export const parseHash = (value: unknown): Hex => fixed(value, 64, 'common.Hash')
export const parseBytes = (value: unknown): Uint8Array => bytesFromDigits(dataDigits(value))

/** Decodes a storage position: a QUANTITY, or a word of 32 bytes (in mappings hashes, of which one in sixteen begins with 0). */
const parsePosition = (value: unknown): Hex => {
  if (typeof value !== 'string' || value.length < 66) return toWord(parseQuantity(value))
  return value.length === 66 ? parseHash(value) : invalidValue('hex string too long, want at most 32 bytes')
}

/** Decodes the storage key of a proof or of an override, which tools write as any hex of at most 32 bytes. */
export const parseSlot = (value: unknown): Hex => {
  const digits = digitsOf(stringOf(value, 'common.Hash'))
  if (digits.length > 64) return invalidValue('hex string too long, want at most 32 bytes')
  if (!HEX_DIGITS.test(digits)) return invalidValue('invalid hex string')
  return digits.length === 0 ? ZERO_HASH : `0x${digits.toLowerCase().padStart(64, '0')}`
}

export const parseBoolean = (value: unknown): boolean =>
  typeof value === 'boolean'
    ? value
    : invalidValue(`json: cannot unmarshal ${jsonKind(value)} into Go value of type bool`)

export const parseString = (value: unknown): string => stringOf(value, 'string')

export const jsonKind = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

export const quantity: Codec<bigint> = codec('quantity', QUANTITY_SCHEMA, value => parseQuantity(value))
export const index: Codec<number> = codec('index', QUANTITY_SCHEMA, parseIndex)
export const data: Codec<Uint8Array> = codec('data', DATA_SCHEMA, parseBytes)
export const address: Codec<Hex> = codec('address', ADDRESS_SCHEMA, parseAddress)
export const hash: Codec<Hex> = codec('hash', HASH_SCHEMA, parseHash)
export const storagePosition: Codec<Hex> = codec('position', { anyOf: [QUANTITY_SCHEMA, HASH_SCHEMA] }, parsePosition)
export const slot: Codec<Hex> = codec('position', { type: 'string', pattern: '^0x[0-9a-fA-F]{0,64}$' }, parseSlot)
/** Selects full transaction objects instead of hashes. */
export const full: Codec<boolean> = codec('full', BOOLEAN_SCHEMA, parseBoolean)
/** Nonce of a proof header, 8 bytes; miners that count write it without leading zeros. */
export const nonce8: Codec<Hex> = codec('nonce', { type: 'string', pattern: '^0x[0-9a-f]{1,16}$' }, value =>
  fixed(
    typeof value === 'string' && /^0x[0-9a-fA-F]{1,15}$/.test(value) ? `0x${value.slice(2).padStart(16, '0')}` : value,
    16,
    'types.BlockNonce',
  ),
)
