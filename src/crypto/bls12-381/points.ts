/** Sums and checks of points of BLS12-381: affine coordinates of 48 bytes below the prime (in G2 each c0, c1); zeros are infinity. */
export interface BlsPoints {
  readonly name: 'blst-native' | 'mcl-wasm'
  /** Returns the sum of two points of the curve over Fp, of any order; undefined: one is not on the curve. */
  addG1(a: Uint8Array, b: Uint8Array): Uint8Array | undefined
  /** Returns the sum of two points of the curve over Fp2, of any order; undefined: one is not on the curve. */
  addG2(a: Uint8Array, b: Uint8Array): Uint8Array | undefined
  /** Returns true for a point of the curve over Fp in the subgroup. */
  isInG1(point: Uint8Array): boolean
  /** Returns true for a point of the curve over Fp2 in the subgroup. */
  isInG2(point: Uint8Array): boolean
  /** Returns the point of G1 from 48 bytes; undefined unless they are the canonical encoding of a point of the subgroup. */
  decompressG1(bytes: Uint8Array): Uint8Array | undefined
}

export const FIELD_BYTES = 48
export const G1_BYTES = 2 * FIELD_BYTES
export const G2_BYTES = 4 * FIELD_BYTES

export const isInfinity = (point: Uint8Array): boolean => point.every(byte => byte === 0)
