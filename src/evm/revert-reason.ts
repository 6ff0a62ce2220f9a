import { asBuffer, bytesToBigint } from '@tandem/base/bytes.ts'

const ERROR_STRING = '08c379a0'
const PANIC = '4e487b71'

const PANICS: Readonly<Record<number, string>> = {
  0: 'generic panic',
  1: 'assert(false)',
  17: 'arithmetic underflow or overflow',
  18: 'division or modulo by zero',
  33: 'enum overflow',
  34: 'invalid encoded storage byte array accessed',
  49: 'out-of-bounds array access; popping on an empty array',
  50: 'out-of-bounds access of an array or bytesN',
  65: 'out of memory',
  81: 'uninitialized function',
}

/**
 * Decodes the text in the output of a revert: Solidity's `Error(string)` or `Panic(uint256)`; undefined for anything else.
 */
export const revertReason = (data: Uint8Array): string | undefined => {
  if (data.byteLength < 36) return undefined
  const selector = asBuffer(data).hexSlice(0, 4)
  if (selector === PANIC) {
    const code = bytesToBigint(data.subarray(4, 36))
    return PANICS[Number(code)] ?? `unknown panic code: 0x${code.toString(16)}`
  }
  return selector === ERROR_STRING ? abiString(data.subarray(4)) : undefined
}

const abiString = (data: Uint8Array): string | undefined => {
  const offset = bytesToBigint(data.subarray(0, 32))
  if (offset + 32n > BigInt(data.byteLength)) return undefined
  const start = Number(offset) + 32
  const length = bytesToBigint(data.subarray(start - 32, start))
  if (BigInt(start) + length > BigInt(data.byteLength)) return undefined
  return asBuffer(data).toString('utf8', start, start + Number(length))
}
