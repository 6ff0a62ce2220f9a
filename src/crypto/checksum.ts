import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { keccak256Hex } from './hash.ts'

/** Address with the mixed case of EIP-55, for people to read and copy. */
export const checksumAddress = (address: Hex): Hex => {
  assert(address.length === ZERO_ADDRESS.length, 'an address has 20 bytes')
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256Hex(new TextEncoder().encode(digits))
  const mixed = [...digits].map((digit, index) =>
    Number.parseInt(hash[index + 2] as string, 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${mixed.join('')}`
}
