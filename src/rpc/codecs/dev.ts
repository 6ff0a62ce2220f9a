import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { type Nonce, uint64FromBigint } from '@tandem/base/uint64.ts'
import { type Codec, codec, named } from '../router/method-description.ts'
import type { JsonSchema } from '../router/raw-json.ts'
import { asObject, plainMember } from './object.ts'
import { full, invalidValue, parseHash } from './scalars.ts'

// Development tools send numbers in several forms: JSON numbers, decimal strings, hex with or without leading zeros.

/** Schema of a number in any of these forms; allows as many digits as `bits` can need. */
const looseSchema = (bits: number): JsonSchema => {
  const [decimal, hex] = [Math.floor(bits * Math.log10(2)), Math.floor(bits / 4)]
  const pattern = `^([0-9]{1,${decimal}}|0x[0-9a-fA-F]{1,${hex}})$`
  return {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern },
    ],
  }
}
const LOOSE_NUMBER = /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/

const parseLoose = (value: unknown, bits: number): bigint => {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  if (!isNumber && !(typeof value === 'string' && LOOSE_NUMBER.test(value)))
    return invalidValue('want a number from 0 on: a JSON integer to 2^53 - 1, a decimal string or 0x and hex digits')
  const number = BigInt(value as string | number)
  return number >> BigInt(bits) > 0n ? invalidValue(`number > ${bits} bits`) : number
}

const loose = (name: string, bits: number): Codec<bigint> =>
  codec(name, looseSchema(bits), value => parseLoose(value, bits))

const NUMBER_SCHEMA = looseSchema(53)
const numberOf = (value: unknown): number => Number(parseLoose(value, 53))

/** Amount of at most 256 bits. */
export const amount: Codec<bigint> = loose('amount', 256)
/** Gas limit of at most 64 bits, the width of the header field. */
export const gasLimit: Codec<bigint> = loose('gasLimit', 64)
/** Nonce of an account, 64 bits (EIP-2681). */
export const nonce: Codec<Nonce> = codec('nonce', looseSchema(64), value => uint64FromBigint(parseLoose(value, 64)))
/** Number of at most 53 bits: seconds, counts, ids. */
export const count: Codec<number> = codec('count', NUMBER_SCHEMA, numberOf)
export const seconds = named('seconds', count)
export const timestamp = named('timestamp', count)
export const enabled = named('enabled', full)

/** Storage position: any number of 256 bits. */
export const position: Codec<Hex> = codec('position', looseSchema(256), value => toWord(parseLoose(value, 256)))
/** Word of exactly 32 bytes. */
export const word: Codec<Hex> = codec('word', { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }, parseHash)

interface MineArgs {
  readonly timestamp?: number | undefined
  readonly blocks?: number | undefined
}

/** Argument of evm_mine: a timestamp or an object. */
export const mineArgs: Codec<MineArgs> = codec(
  'options',
  {
    anyOf: [
      NUMBER_SCHEMA,
      { type: 'object', properties: { timestamp: NUMBER_SCHEMA, blocks: NUMBER_SCHEMA }, additionalProperties: true },
    ],
  },
  value => {
    if (typeof value !== 'object') return { timestamp: numberOf(value) }
    const object = asObject(value, 'MineOptions')
    return {
      timestamp: plainMember(object, 'timestamp', numberOf),
      blocks: plainMember(object, 'blocks', numberOf),
    }
  },
)

/** Argument of the reset methods; `forking` is rejected, since this chain cannot fork another one. */
export const resetArgs: Codec<undefined> = codec(
  'options',
  { type: 'object', properties: { forking: { type: 'object' } } },
  value => {
    const forking = asObject(value, 'ResetOptions')['forking']
    const isFork = typeof forking === 'object' && forking !== null && Reflect.get(forking, 'jsonRpcUrl') != null
    return isFork ? invalidValue('forking is not supported: this chain is no copy of another') : undefined
  },
)

/** Interval of hardhat's interval mining: milliseconds, or a range of them. */
export const intervalMs: Codec<number> = codec(
  'interval',
  { anyOf: [NUMBER_SCHEMA, { type: 'array', items: NUMBER_SCHEMA, minItems: 2, maxItems: 2 }] },
  value => (Array.isArray(value) ? (numberOf(value[0]) + numberOf(value[1])) / 2 : numberOf(value)),
)

/** State dump as returned by the dump methods. */
export const stateBytes: Codec<Uint8Array> = codec(
  'state',
  { type: 'string', pattern: '^0x([0-9a-fA-F]{2})*$' },
  value =>
    typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value)
      ? hexToBytes(value as Hex)
      : invalidValue('not hex: want what a dump method answered'),
)
