import { createRequire } from 'node:module'

/** ECDSA over secp256k1 as in Ethereum (SEC 1 with RFC 6979 nonces). */
export interface SignatureProvider {
  readonly name: string
  /** Returns the 64-byte public key (x, y) of a signature r || s; undefined when there is none. */
  recover(digest: Uint8Array, signature: Uint8Array, recoveryId: number): Uint8Array | undefined
  /** Returns 65 bytes r || s || v with v 0 or 1 and s in the lower half. Throws on an invalid private key. */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
  /** Returns the 64-byte public key (x, y). Throws on an invalid private key. */
  publicKey(privateKey: Uint8Array): Uint8Array
}

/** Part of the package's API used here; it has no types. */
interface Secp256k1 {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    digest: Uint8Array,
    compressed: boolean,
    output?: Uint8Array,
  ): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array
}

/** libsecp256k1 as an addon, `bindings` by name: the package's main file falls back silently. Throws where there is none. */
export const createNativeProvider = (): SignatureProvider => {
  const secp256k1: Secp256k1 = createRequire(import.meta.url)('secp256k1/bindings')
  const output = new Uint8Array(65)
  return {
    name: 'secp256k1-native',
    recover(digest, signature, recoveryId) {
      try {
        secp256k1.ecdsaRecover(signature, recoveryId, digest, false, output)
      } catch {
        return undefined // no curve point has this r, or the key is the point at infinity
      }
      return output.slice(1)
    },
    sign(digest, privateKey) {
      const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
      const out = new Uint8Array(65)
      out.set(signature)
      out[64] = recid
      return out
    },
    publicKey: privateKey => secp256k1.publicKeyCreate(privateKey, false).slice(1),
  }
}
