import { asBuffer, EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'

/** Storage word in stored form: without leading zeros; zero is empty. */
export const encodeWord = (word: Hex): Uint8Array => {
  if (word === ZERO_HASH) return EMPTY_BYTES
  let at = 2
  while (word.charCodeAt(at) === 48) at++
  return Buffer.from(word.slice(at & 1 ? at - 1 : at), 'hex')
}

export const decodeWord = (bytes: Uint8Array | undefined): Hex => {
  if (bytes === undefined || bytes.byteLength === 0) return ZERO_HASH
  return `0x${asBuffer(bytes).toString('hex').padStart(64, '0')}`
}
