/** Both ways between values and bytes, where decoding is done elsewhere. */
export interface AsyncCodec<T> {
  encode(value: T): Uint8Array
  decode(bytes: Uint8Array): Promise<T>
}
