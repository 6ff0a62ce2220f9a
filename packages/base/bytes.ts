/** Bytes and hex. Bytes inside, 0x-hex at the edges and as map keys (CONTRIBUTING.md#the-house). All hex is lower case. */

export type Hex = `0x${string}`

// Node.js' fast paths behind toString('hex') and write(_, 'hex'), which its type package omits.
declare global {
  interface Buffer {
    hexSlice(start?: number, end?: number): string
    hexWrite(text: string, offset?: number, length?: number): number
  }
}

export const EMPTY_BYTES = new Uint8Array(0)
export const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`
export const ZERO_HASH: Hex = `0x${'00'.repeat(32)}`

/** Returns a Buffer over the same memory, without a copy. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

// Called on plain arrays too: a Buffer over an array of V8's heap would move it out of there.
const { hexSlice } = Buffer.prototype

export const bytesToHex = (bytes: Uint8Array): Hex => `0x${hexSlice.call(bytes as Buffer, 0, bytes.byteLength)}`

/** `hex` must be 0x-prefixed and of even length; the caller has checked it. */
export const hexToBytes = (hex: Hex): Uint8Array => bytesFromDigits(hex.slice(2))

/** Bytes of hex digits without a prefix, of either case. */
export const bytesFromDigits = (digits: string): Uint8Array => {
  const buffer = Buffer.from(digits, 'hex')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

/**
 * Returns the same bytes in memory of their own, for transfer to another thread or for keeping: a view transfers or retains the
 * whole buffer behind it, which for bytes decoded from hex is Node's pool of 64 KiB.
 */
export const copyBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes)

/**
 * Gives the memory of bytes back at once, where it is theirs alone: megabytes would wait for the next garbage collection. They must not be used
 * again, and are empty.
 */
export const freeBytes = ({ byteLength, buffer }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0)
}

/** QUANTITY encoding: the most compact form, zero is 0x0 (docs/interface.md#encoding). */
export const toQuantity = (value: bigint | number): Hex => `0x${value.toString(16)}`

/** Big-endian bytes without leading zeros; zero is empty. */
export const bigintToBytes = (value: bigint): Uint8Array => {
  if (value === 0n) return EMPTY_BYTES
  const hex = value.toString(16)
  return hexToBytes(`0x${hex.length & 1 ? '0' : ''}${hex}`)
}

export const bytesToBigint = (bytes: Uint8Array): bigint => (bytes.byteLength === 0 ? 0n : BigInt(bytesToHex(bytes)))

/** A 32-byte word as 0x and 64 digits. */
export const toWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Returns a view without the zero bytes at the beginning. */
export const trimZeros = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < bytes.byteLength && bytes[start] === 0) start++
  return bytes.subarray(start)
}

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array => {
  let size = 0
  for (const part of parts) size += part.byteLength
  const out = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.byteLength
  }
  return out
}

export const bytesEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && asBuffer(a).equals(asBuffer(b))

export const compareBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(asBuffer(a), asBuffer(b))

const LARGE_BYTES = 64 * 1024

/** Frees those of some arrays that are large; the garbage collector returns small ones faster. */
export const freeLarge = (all: readonly Uint8Array[]): void => {
  for (const bytes of all) if (bytes.byteLength >= LARGE_BYTES) freeBytes(bytes)
}
