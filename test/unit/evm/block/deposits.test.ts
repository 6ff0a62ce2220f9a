import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { depositRequest } from '../../../../src/evm/block/deposits.ts'
import type { Log } from '../../../../src/primitives/receipt/log.ts'
import type { Receipt } from '../../../../src/primitives/receipt/receipt.ts'

const CONTRACT: Hex = `0x${'de'.repeat(20)}`
const TOPIC: Hex = '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5'
const LENGTHS = [48, 32, 8, 96, 8]

const word = (value: number): Uint8Array => hexToBytes(toWord(BigInt(value)))
const field = (length: number, fill: number): Uint8Array => {
  const padded = new Uint8Array(Math.ceil(length / 32) * 32)
  return concatBytes(word(length), padded.fill(fill, 0, length))
}
/** The five fields as Solidity encodes them. */
const dataOf = (fill: number): Uint8Array =>
  concatBytes(...[160, 256, 320, 384, 512].map(word), ...LENGTHS.map((length, i) => field(length, fill + i)))
const deposit = (fill: number, more: Partial<Log> = {}): Log => ({
  address: CONTRACT,
  topics: [TOPIC],
  data: dataOf(fill),
  ...more,
})
const receipts = (...logs: readonly Log[]): readonly Receipt[] =>
  logs.map(log => ({ logs: [log] }) as unknown as Receipt)

test('deposits of a block stand one after the other, their fields without padding', () => {
  const expected = [1, 11].map(fill =>
    concatBytes(...LENGTHS.map((length, i) => new Uint8Array(length).fill(fill + i))),
  )
  expect(depositRequest(receipts(deposit(1), deposit(11)), CONTRACT)).toEqual(
    concatBytes(Uint8Array.of(0), ...expected),
  )
})

test('logs of other contracts, and other logs of this one, are none', () => {
  const others = [deposit(1, { address: `0x${'01'.repeat(20)}` }), deposit(1, { topics: [`0x${'02'.repeat(32)}`] })]
  expect(depositRequest(receipts(...others), CONTRACT)).toBeUndefined()
})

const changed = (at: number): Uint8Array => dataOf(1).map((byte, i) => (i === at ? byte ^ 1 : byte))

test.each([
  ['an offset that is another', changed(31)],
  ['a length that is another', changed(160 + 31)],
  ['a word too few', dataOf(1).subarray(0, 544)],
  ['a word too many', concatBytes(dataOf(1), word(0))],
  ['nothing', new Uint8Array(0)],
])('a deposit with %s makes the block invalid', (_, data) => {
  expect(() => depositRequest(receipts(deposit(1, { data })), CONTRACT)).toThrow(
    expect.objectContaining({ detail: { code: 'DEPOSIT_MALFORMED', contract: CONTRACT } }),
  )
})
