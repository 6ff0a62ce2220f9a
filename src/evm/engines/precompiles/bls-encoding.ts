import { EVMError } from '@ethereumjs/evm'
import { asBuffer, hexToBytes } from '@tandem/base/bytes.ts'
import { FIELD_BYTES } from '../../../crypto/bls12-381/points.ts'

/* Points as EIP-2537 encodes them: each coordinate in 64 bytes, of which the first 16 are zero. */

const ENCODED_FIELD_BYTES = 64
const PADDING_BYTES = ENCODED_FIELD_BYTES - FIELD_BYTES
export const ENCODED_G1_BYTES = 2 * ENCODED_FIELD_BYTES
export const ENCODED_G2_BYTES = 4 * ENCODED_FIELD_BYTES

const PRIME = asBuffer(
  hexToBytes('0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab'),
)
const { BLS_12_381_FP_NOT_IN_FIELD, BLS_12_381_POINT_NOT_ON_CURVE, REVERT } = EVMError.errorMessages

/** Coordinates of a point of G1 or G2. Throws as EthereumJS does where one is padded with something else or not below the prime. */
export const pointFrom = (encoded: Uint8Array): Uint8Array => {
  const count = encoded.byteLength / ENCODED_FIELD_BYTES
  const point = new Uint8Array(count * FIELD_BYTES)
  for (let i = 0; i < count; i++) {
    const from = i * ENCODED_FIELD_BYTES
    for (let at = from; at < from + PADDING_BYTES; at++)
      if (encoded[at] !== 0) throw new EVMError(BLS_12_381_POINT_NOT_ON_CURVE)
    const coordinate = encoded.subarray(from + PADDING_BYTES, from + ENCODED_FIELD_BYTES)
    if (PRIME.compare(coordinate) <= 0) throw new EVMError(count > 2 ? BLS_12_381_FP_NOT_IN_FIELD : REVERT)
    point.set(coordinate, i * FIELD_BYTES)
  }
  return point
}

export const encodePoint = (point: Uint8Array): Uint8Array => {
  const count = point.byteLength / FIELD_BYTES
  const encoded = new Uint8Array(count * ENCODED_FIELD_BYTES)
  for (let i = 0; i < count; i++)
    encoded.set(point.subarray(i * FIELD_BYTES, (i + 1) * FIELD_BYTES), i * ENCODED_FIELD_BYTES + PADDING_BYTES)
  return encoded
}
