import { asBuffer, bytesToBigint, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { plainText } from '../chain/plain-text.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { TokenMetadata, TokenStandard } from '../store/records.ts'

/** Result of a call to a contract on the head's state; undefined when it fails, or takes too much gas, time or bytes. Never throws because of the contract. */
export type ContractCall = (to: Hex, data: Uint8Array) => Promise<Uint8Array | undefined>

const NAME = hexToBytes('0x06fdde03')
const SYMBOL = hexToBytes('0x95d89b41')
const DECIMALS = hexToBytes('0x313ce567')
const TOTAL_SUPPLY = hexToBytes('0x18160ddd')

const WORD = 32
const MAX_DECIMALS = 255n

/** Name, symbol and decimals of a token. Each is read separately: a token without a name still has decimals. */
export const readTokenMetadata = async (
  call: ContractCall,
  token: Hex,
  standard: TokenStandard,
): Promise<TokenMetadata> => {
  const ask = (data: Uint8Array): Promise<Uint8Array | undefined> => call(token, data)
  const decimals = standard === 'ERC-20' ? wordOf(await ask(DECIMALS)) : null
  return {
    name: textOf(await ask(NAME), EXPLORER_LIMITS.token.nameChars),
    symbol: textOf(await ask(SYMBOL), EXPLORER_LIMITS.token.symbolChars),
    decimals: decimals === null || decimals > MAX_DECIMALS ? null : Number(decimals),
    supply: standard === 'ERC-1155' ? null : wordOf(await ask(TOTAL_SUPPLY)),
  }
}

const wordOf = (output: Uint8Array | undefined): bigint | null =>
  output?.byteLength === WORD ? bytesToBigint(output) : null

/** An ABI string, or 32 bytes ended by zeros, as the first tokens had it. */
export const textOf = (output: Uint8Array | undefined, limit: number): string | null => {
  if (output === undefined) return null
  if (output.byteLength === WORD) return plainText(utf8(output.subarray(0, endOfText(output))), limit)
  if (output.byteLength < 2 * WORD || bytesToBigint(output.subarray(0, WORD)) !== BigInt(WORD)) return null
  const length = bytesToBigint(output.subarray(WORD, 2 * WORD))
  if (length > BigInt(output.byteLength - 2 * WORD)) return null
  return plainText(utf8(output.subarray(2 * WORD, 2 * WORD + Number(length))), limit)
}

const endOfText = (bytes: Uint8Array): number => {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes.byteLength : end
}

const utf8 = (bytes: Uint8Array): string => asBuffer(bytes).toString('utf8')
