import { asBuffer, bytesToBigint } from '@tandem/base/bytes.ts'
import { panicText } from '@tandem/base/solidity-errors.ts'

const ERROR_STRING = '08c379a0'
const PANIC = '4e487b71'

/** Decodes the text in the output of a revert: Solidity's `Error(string)` or `Panic(uint256)`; undefined for anything else. */
export const revertReason = (data: Uint8Array): string | undefined => {
  if (data.byteLength < 36) return undefined
  const selector = asBuffer(data).hexSlice(0, 4)
  if (selector === PANIC) return panicText(bytesToBigint(data.subarray(4, 36)))
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
