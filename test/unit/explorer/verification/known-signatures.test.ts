import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import {
  decodeKnownCall,
  decodeKnownLog,
  knownFunctionName,
} from '@tandem/explorer/verification/abi/known-signatures.ts'
import { expect, test } from 'vitest'

const WHO: Hex = `0x${'ab'.repeat(20)}`
const words = (...values: readonly bigint[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(value))))
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

test('common functions have their names', () => {
  const names = {
    '0xa9059cbb': 'transfer',
    '0x095ea7b3': 'approve',
    '0xd0e30db0': 'deposit',
    '0x82ad56cb': 'aggregate3',
  }
  for (const [selector, name] of Object.entries(names)) expect(knownFunctionName(selector as Hex)).toBe(name)
  expect(knownFunctionName('0x00000000')).toBeNull()
  expect(knownFunctionName(null)).toBeNull()
})

test('calldata is decoded where it is that of the function, and left alone where it is not', () => {
  const selector = hexToBytes('0xa9059cbb')
  expect(decodeKnownCall(concatBytes(selector, words(BigInt(WHO), 5n)))).toMatchObject({
    signature: 'transfer(address,uint256)',
    args: [
      { name: 'to', type: 'address' },
      { name: 'value', value: '5' },
    ],
  })
  expect(decodeKnownCall(concatBytes(selector, words(2n ** 255n)))).toBeUndefined()
  for (const data of [EMPTY_BYTES, selector.subarray(0, 3), hexToBytes('0x12345678')])
    expect(decodeKnownCall(data)).toBeUndefined()
})

test('events of one hash are told apart by what is indexed', () => {
  const [from, to] = [toWord(1n), toWord(2n)]
  const coin = decodeKnownLog({ topics: [TRANSFER, from, to], data: words(7n) })
  expect(coin?.args.map(({ name }) => name)).toEqual(['from', 'to', 'value'])
  const one = decodeKnownLog({ topics: [TRANSFER, from, to, toWord(9n)], data: EMPTY_BYTES })
  expect(one?.args.map(({ name }) => name)).toEqual(['from', 'to', 'id'])
  expect(decodeKnownLog({ topics: [TRANSFER], data: EMPTY_BYTES })).toBeUndefined()
  expect(decodeKnownLog({ topics: [], data: EMPTY_BYTES })).toBeUndefined()
})
