/** Encoder, and decoder that works elsewhere. */
export interface AsyncCodec<T> {
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): Promise<T>
}
