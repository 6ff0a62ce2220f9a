/** A quorum's commit signatures for one block: who signed (bit i of byte i>>3 = committee index i) and the 65-byte seals in index order. */
export interface Certificate {
  readonly round: number
  readonly bitmap: Uint8Array
  readonly seals: readonly Uint8Array[]
}
