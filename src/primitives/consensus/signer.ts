import type { Hex } from '@tandem/base/bytes.ts'

/** Key of a validator. `sign` returns r, s and recovery id (65 bytes) over a 32-byte digest. */
export interface ValidatorSigner {
  readonly address: Hex
  sign(digest: Uint8Array): Uint8Array
}
