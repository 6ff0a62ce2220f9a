/** ECDSA over secp256k1 as in Ethereum (SEC 1 with RFC 6979 nonces). */
export interface SignatureProvider {
  readonly name: 'secp256k1-native' | 'libauth-wasm' | 'noble-js'
  /** Returns the 64-byte public key (x, y) of a signature r || s; undefined when there is none. */
  recover(digest: Uint8Array, signature: Uint8Array, recoveryId: number): Uint8Array | undefined
  /** Returns 65 bytes r || s || v with v 0 or 1 and s in the lower half. Throws on an invalid private key. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /** Returns the 64-byte public key (x, y). Throws on an invalid private key. */
  publicKey(privateKey: Uint8Array): Uint8Array
}
