import { asBuffer, type Hex, toQuantity } from '@tandem/base/bytes.ts'

/** Encodes a big-endian number as QUANTITY: no leading zeros; zero is 0x0. */
export const quantityOfBytes = (bytes: Uint8Array): string => {
  const hex = asBuffer(bytes).hexSlice(0, bytes.byteLength)
  let start = 0
  while (start < hex.length - 1 && hex.charCodeAt(start) === 48) start++
  return hex.length === 0 ? '0x0' : `0x${hex.slice(start)}`
}

/** Return JSON string literals; hex needs no escaping. */
export const jsonQuantity = (value: bigint | number): string => `"0x${value.toString(16)}"`
export const jsonData = (bytes: Uint8Array): string => `"0x${asBuffer(bytes).hexSlice(0, bytes.byteLength)}"`
export const jsonHexOrNull = (hex: string | null): string => (hex === null ? 'null' : `"${hex}"`)

/** Encodes each value as QUANTITY. */
export const toQuantities = <T extends Readonly<Record<keyof T, bigint | number>>>(values: T): Record<keyof T, Hex> =>
  Object.fromEntries(
    Object.entries<bigint | number>(values).map(([name, value]) => [name, toQuantity(value)]),
  ) as Record<keyof T, Hex>
