import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../crypto/checksum.ts'
import { refusalError } from './grant-rule.ts'

const DIGITS = 40
const MAX_CHARS = 200
/** Precompiled contracts and the contracts of genesis have addresses below this. */
const RESERVED_BELOW = 0x1_0000n

const refuse = (reason: string): never => {
  throw refusalError({ code: 'ADDRESS_INVALID', reason })
}

/** Returns the address in lower case. Throws ADDRESS_INVALID, whose reason says what to change. */
export const parseRecipient = (input: unknown, faucet: Hex): Hex => {
  if (input === undefined || input === null || input === '') return refuse('Enter an address: 0x and 40 hex digits.')
  if (typeof input !== 'string') return refuse('The address must be a text: 0x and 40 hex digits in quotes.')
  checkForm(input)
  const address = input.toLowerCase() as Hex
  checkCase(input, address)
  if (address === ZERO_ADDRESS) return refuse('This is the zero address, which belongs to nobody.')
  if (address === faucet) return refuse("This is the faucet's own address.")
  if (BigInt(address) < RESERVED_BELOW) return refuse('This address belongs to the chain itself, not to a person.')
  return address
}

const checkForm = (text: string): void => {
  if (text.length > MAX_CHARS) refuse('This is too long for an address, which has 0x and 40 hex digits.')
  if (/\s/.test(text)) refuse('Remove the spaces: an address is written without any.')
  if (text.startsWith('0X')) refuse('Begin the address with 0x, the x in lower case.')
  if (/^[0-9a-fA-F]{40}$/.test(text)) refuse('Put 0x in front of the 40 hex digits.')
  if (!text.startsWith('0x')) refuse('An address begins with 0x; names are not looked up.')
  const digits = text.slice(2)
  if (!/^[0-9a-fA-F]*$/.test(digits)) refuse('After 0x only the digits 0 to 9 and a to f may follow.')
  if (digits.length !== DIGITS)
    refuse(`An address has 40 hex digits after 0x, this has ${digits.length}: a digit is missing or too much.`)
}

/** Mixed case is a checksum (EIP-55), which finds a mistyped digit. */
const checkCase = (text: string, address: Hex): void => {
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && text !== checksumAddress(address))
    refuse('The checksum (EIP-55) is wrong: a digit differs. Copy the address again.')
}
