import { concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { type AbiType, contractFunctions } from '@tandem/explorer/verification/abi/abi-types.ts'
import { type AbiValue, decodeParameters, encodeParameters } from '@tandem/explorer/verification/abi/abi-values.ts'
import { argumentProblem, parseArgument, valueText } from '@tandem/explorer/verification/abi/argument-text.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attackerText } from '../../support/attacker-text.ts'
import { SEED } from '../../support/seed.ts'

const word = (name: string): AbiType => ({ kind: 'word', name })
const list = (item: AbiType, length?: number): AbiType => ({ kind: 'array', item, length })

const problemOf = (type: AbiType, text: string): string | undefined => {
  try {
    parseArgument(type, text)
    return undefined
  } catch (error) {
    return argumentProblem(error) ?? `not a refusal: ${error}`
  }
}

describe('text of an argument', () => {
  test.each<readonly [AbiType, string, AbiValue]>([
    [word('uint256'), ' 12 ', '12'],
    [word('uint256'), '0xff', '255'],
    [word('uint256'), String(2n ** 256n - 1n), String(2n ** 256n - 1n)],
    [word('int8'), '-128', '-128'],
    [word('bool'), 'true', true],
    [word('bool'), '0', false],
    [word('address'), '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
    [word('bytes4'), '0xA9059CBB', '0xa9059cbb'],
    [{ kind: 'bytes' }, '0x', '0x'],
    [{ kind: 'string' }, ' <b> ', ' <b> '],
    [list(word('uint256')), '[1, "2", 123456789012345678901234567890]', ['1', '2', '123456789012345678901234567890']],
    [list(word('bool'), 2), '[true, "false"]', [true, false]],
    [{ kind: 'tuple', items: [{ kind: 'string' }, list(word('uint8'))] }, '["a", [1]]', ['a', ['1']]],
  ])('%j takes %s', (type, text, value) => {
    expect(parseArgument(type, text)).toEqual(value)
  })

  test.each<readonly [AbiType, string, RegExp]>([
    [word('uint8'), '256', /out of the range of uint8/],
    [word('uint256'), '-1', /out of the range/],
    [word('uint256'), '1.5', /whole number/],
    [word('uint256'), '1e3', /whole number/],
    [word('uint256'), '', /whole number/],
    [word('uint256'), '9'.repeat(1_000), /whole number/],
    [word('bool'), 'yes', /true or false/],
    [word('address'), '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /checksum/],
    [word('address'), 'alice', /40 hex digits/],
    [word('bytes4'), '0x12', /8 hex digits/],
    [{ kind: 'bytes' }, '0x1', /two hex digits/],
    [list(word('uint256')), '1, 2', /JSON array/],
    [list(word('uint256')), '{}', /JSON array/],
    [list(word('uint256'), 3), '[1]', /3 entries, not 1/],
    [{ kind: 'tuple', items: [word('bool')] }, '[]', /1 entries, not 0/],
    [list(word('uint256')), '[1.5]', /whole number/],
    [list(word('uint256')), '[null]', /text or a number/],
  ])('%j refuses %s', (type, text, problem) => {
    expect(problemOf(type, text)).toMatch(problem)
  })

  test('any text is taken or refused, and what is taken can be encoded', () => {
    const types = fc.constantFrom<AbiType>(
      word('uint256'),
      word('int16'),
      word('bool'),
      word('address'),
      word('bytes32'),
      { kind: 'bytes' },
      { kind: 'string' },
      list(word('uint256')),
      { kind: 'tuple', items: [{ kind: 'string' }, word('bool')] },
    )
    const texts = fc.oneof(attackerText(), fc.json(), fc.bigInt().map(String))
    fc.assert(
      fc.property(types, texts, (type, text) => {
        if (problemOf(type, text) !== undefined) return
        const value = parseArgument(type, text)
        const [read] = decodeParameters([type], encodeParameters([type], [value])) ?? []
        expect(valueText(read as AbiValue).toLowerCase()).toBe(valueText(value).toWellFormed().toLowerCase())
      }),
      { seed: SEED, numRuns: 500 },
    )
  })
})

describe('parameters', () => {
  const bytesList = [list({ kind: 'bytes' })]

  test('whose bytes are named many times are no encoding: their values would be far longer', () => {
    const once = encodeParameters(bytesList, [[`0x${'11'.repeat(100)}`, '0x']])
    expect(decodeParameters(bytesList, once)).toEqual([[`0x${'11'.repeat(100)}`, '0x']])
    const names = 1_000
    const words = [32, names, ...new Array<number>(names).fill(32 * names), 32 * names]
    const data = new Uint8Array(32 * words.length + 32 * names)
    const view = new DataView(data.buffer)
    for (const [at, value] of words.entries()) view.setUint32(32 * at + 28, value)
    expect(decodeParameters(bytesList, data)).toBeUndefined()
  })

  test('nor are arrays inside arrays that all begin at one place: a thousand bytes would be thousands of numbers', () => {
    const [levels, count] = [8, 3]
    let type = word('uint256')
    for (let level = 0; level < levels; level++) type = list(type)
    const wordOf = (value: number): Uint8Array => hexToBytes(toWord(BigInt(value)))
    const level = (isLast: boolean): Uint8Array[] => [
      wordOf(count),
      ...Array.from({ length: count }, () => (isLast ? new Uint8Array(32).fill(255) : wordOf(32 * count))),
    ]
    const shared = Array.from({ length: levels }, (_, at) => level(at === levels - 1)).flat()
    expect(decodeParameters([type], concatBytes(wordOf(32), ...shared))).toBeUndefined()
    const [flat] = decodeParameters([list(word('uint256'))], concatBytes(wordOf(32), ...level(true))) ?? []
    expect(flat).toHaveLength(count)
  })

  test('of any number of texts and bytes are read as they were encoded', () => {
    const types = [list({ kind: 'tuple', items: [{ kind: 'string' }, { kind: 'bytes' }, word('bool')] })]
    const item = fc.tuple(
      fc.string({ unit: 'binary' }),
      fc.uint8Array().map(bytes => `0x${Buffer.from(bytes).toString('hex')}`),
      fc.boolean(),
    )
    fc.assert(
      fc.property(fc.array(item), items => {
        expect(decodeParameters(types, encodeParameters(types, [items]))).toEqual([items])
      }),
      { seed: SEED },
    )
  })
})

test('functions of an ABI have their selector, and unknown types are left out', () => {
  const uint = (name: string) => ({ name, type: 'uint256' })
  const functions = contractFunctions([
    { type: 'function', name: 'transfer', inputs: [{ name: 'to', type: 'address' }, uint('amount')], outputs: [] },
    { type: 'function', name: 'name', inputs: [], outputs: [{ name: '', type: 'string' }], stateMutability: 'view' },
    { type: 'function', name: 'odd', inputs: [{ name: 'x', type: 'fixed128x18' }], outputs: [] },
    { type: 'event', name: 'Transfer', inputs: [] },
    null,
  ])
  expect(functions.map(({ name, selector, mutability }) => [name, selector, mutability])).toEqual([
    ['transfer', '0xa9059cbb', 'nonpayable'],
    ['name', '0x06fdde03', 'view'],
  ])
})
