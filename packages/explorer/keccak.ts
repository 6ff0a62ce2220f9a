import { hash } from 'node:crypto'
import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'

/** keccak-256 of bytes, or of the characters of a text. */
export const keccak256Hex = (content: Uint8Array | string): Hex => `0x${hash('keccak-256', content, 'hex')}`

/** Address with the mixed case of EIP-55, for people to read and copy. */
export const checksumAddress = (address: Hex): Hex => {
  assert(address.length === ZERO_ADDRESS.length, 'an address has 20 bytes')
  const digits = address.slice(2).toLowerCase()
  const hashed = keccak256Hex(digits)
  let mixed = '0x'
  for (let at = 0; at < digits.length; at++) {
    const digit = digits[at] as string
    mixed += (hashed[at + 2] as string) >= '8' ? digit.toUpperCase() : digit
  }
  return mixed as Hex
}
