import type { Hex } from '@tandem/base/bytes.ts'
import { resultOrCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { checksumAddress } from '../../../src/crypto/checksum.ts'
import { parseRecipient } from '../../../src/faucet/address-form.ts'

const FAUCET: Hex = `0x${'fa'.repeat(20)}`
const ADDRESS: Hex = '0x52908400098527886e0f7030069857d2e4169ee7'

const reasonFor = (input: unknown): string =>
  (resultOrCoded(() => parseRecipient(input, FAUCET)) as unknown as { readonly detail: { readonly reason: string } })
    .detail.reason

test('lower case, upper case and checksummed are one address', () => {
  const checksummed = checksumAddress('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')
  expect(parseRecipient(ADDRESS, FAUCET)).toBe(ADDRESS)
  expect(parseRecipient(`0x${ADDRESS.slice(2).toUpperCase()}`, FAUCET)).toBe(ADDRESS)
  expect(parseRecipient(checksummed, FAUCET)).toBe(checksummed.toLowerCase())
})

test.each([
  ['nothing', '', /^Enter an address/],
  ['no field', undefined, /^Enter an address/],
  ['a number', 5, /must be a text/],
  ['a list', [ADDRESS], /must be a text/],
  ['39 digits', ADDRESS.slice(0, -1), /this has 39/],
  ['41 digits', `${ADDRESS}0`, /this has 41/],
  ['a space before', ` ${ADDRESS}`, /Remove the spaces/],
  ['a line break after', `${ADDRESS}\n`, /Remove the spaces/],
  ['0X', `0X${ADDRESS.slice(2)}`, /x in lower case/],
  ['no 0x', ADDRESS.slice(2), /Put 0x in front/],
  ['a name', 'alice.eth', /names are not looked up/],
  ['another digit', `${ADDRESS.slice(0, -1)}g`, /only the digits/],
  ['a digit of another script', `${ADDRESS.slice(0, -1)}٣`, /only the digits/],
  ['a wrong checksum', checksumAddress('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed').replace('5aA', '5Aa'), /EIP-55/],
  ['the zero address', `0x${'0'.repeat(40)}`, /zero address/],
  ['a precompile', `0x${'0'.repeat(39)}1`, /belongs to the chain itself/],
  ['the council', `0x${'0'.repeat(37)}400`, /belongs to the chain itself/],
  ['the faucet', FAUCET, /faucet's own/],
  ['a very long text', `0x${'a'.repeat(100_000)}`, /too long/],
])('%s gets its own message', (_, input, expected) => {
  expect(reasonFor(input)).toMatch(expected)
})
