import { bytesToHex, toQuantity } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseHash, parseHex, parseQuantity } from '../../src/rpc/codecs/scalars.ts'
import { InvalidArgument, RpcError } from '../../src/rpc/errors.ts'
import { METHODS } from '../../src/rpc/methods/methods.ts'
import { LiveValues } from '../support/fuzz/live-values.ts'
import { ValueMaker } from '../support/fuzz/values.ts'
import { SEED } from '../support/seed.ts'

const isWorded = (error: unknown): error is Error => error instanceof InvalidArgument || error instanceof RpcError

/** The value, or undefined where the parser refuses; anything else it throws is a fault. */
const parsed = <T>(parse: (value: unknown) => T, value: unknown): T | undefined => {
  try {
    return parse(value)
  } catch (error) {
    if (isWorded(error) && error.message !== '') return undefined
    throw error
  }
}

/** Strings of what hex is made of, and of what looks like it. */
const nearHex = fc
  .tuple(
    fc.constantFrom('0x', '0x', '0x', '0X', '0x0', '', 'x', '0', ' 0x', '-0x'),
    fc.string({ unit: fc.constantFrom(...'0012349abcdefABCDEFg _.\u0000１é'), maxLength: 70 }),
  )
  .map(([prefix, digits]) => prefix + digits)
const hexDigits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 70 })
const text = fc.oneof(
  nearHex,
  hexDigits.map(digits => `0x${digits}`),
  fc.string(),
)

test('a quantity is read from its one form, and from no other string', () => {
  fc.assert(
    fc.property(text, fc.constantFrom(64, 256), (value, bits) => {
      const isGood = /^0[xX](0|[1-9a-fA-F][0-9a-fA-F]*)$/.test(value) && value.length - 2 <= bits / 4
      expect(parsed(input => parseQuantity(input, bits), value)).toBe(isGood ? BigInt(value.toLowerCase()) : undefined)
    }),
    { seed: SEED, numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), n => parseQuantity(toQuantity(n)) === n),
    { seed: SEED },
  )
})

test('data and hashes are read from hex of whole bytes, in lower case, and from no other string', () => {
  fc.assert(
    fc.property(text, value => {
      const isGood = /^0[xX]([0-9a-fA-F]{2})*$/.test(value)
      expect(parsed(parseHex, value)).toBe(isGood ? value.toLowerCase() : undefined)
      expect(parsed(parseHash, value)).toBe(isGood && value.length === 66 ? value.toLowerCase() : undefined)
    }),
    { seed: SEED, numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 90 }), bytes => parseHex(bytesToHex(bytes)) === bytesToHex(bytes)),
    { seed: SEED },
  )
})

const live = () =>
  new LiveValues({
    addresses: [`0x${'aa'.repeat(20)}`, `0x${'0b'.repeat(20)}`],
    hashes: [`0x${'cc'.repeat(32)}`, `0x${'0d'.repeat(32)}`],
    callData: ['0x', '0x01020304'],
  })

/** Constraints that no schema expresses: those between two members, and that a string is JSON. */
const TOGETHER =
  /cannot specify both|both gasPrice and|both "data" and|exceed max topics|neither blockHash nor blockNumber|< maxPriorityFeePerGas|must be increasing|needs at least one|or JSON of one|cannot be used to create/

test('what the schema of an argument allows, the method takes', () => {
  const ajv = new Ajv2020({ strict: false })
  const codecs = Object.entries(METHODS).flatMap(([name, { params }]) => params.map(codec => ({ name, codec })))
  fc.assert(
    fc.property(fc.constantFrom(...codecs), fc.nat(), ({ name, codec }, seed) => {
      const value = new ValueMaker(live(), createRandom(seed)).fitting(codec.schema, codec.name)
      expect(ajv.validate(codec.schema, value), `${name} ${JSON.stringify(value)}: ${ajv.errorsText()}`).toBe(true)
      if (value === null || value === undefined) return
      try {
        codec.parse(value)
      } catch (error) {
        if (!isWorded(error) || !TOGETHER.test(error.message))
          throw new Error(`${name} ${codec.name} ${JSON.stringify(value)}`, { cause: error })
      }
    }),
    { seed: SEED, numRuns: 6_000 },
  )
})

test('an argument of any shape is taken or refused in words', () => {
  const codecs = Object.entries(METHODS).flatMap(([name, { params }]) => params.map(codec => ({ name, codec })))
  fc.assert(
    fc.property(fc.constantFrom(...codecs), fc.nat(), fc.boolean(), ({ codec }, seed, near) => {
      const values = new ValueMaker(live(), createRandom(seed))
      const value = near ? values.nearMiss(values.fitting(codec.schema, codec.name)) : values.any(4)
      // As it comes over the wire: undefined and negative zero do not.
      parsed(codec.parse, JSON.parse(JSON.stringify(value)))
    }),
    { seed: SEED, numRuns: 10_000 },
  )
})
