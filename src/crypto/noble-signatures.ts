import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { SignatureProvider } from './native-signatures.ts'

/** Pure JavaScript: at once on every platform, while WebAssembly compiles. */
export const createNobleProvider = (): SignatureProvider => ({
  name: 'noble-js',
  recover(digest, signature, recoveryId) {
    try {
      const point = secp256k1.Signature.fromBytes(signature, 'compact')
        .addRecoveryBit(recoveryId)
        .recoverPublicKey(digest)
      return point.toBytes(false).slice(1)
    } catch {
      return undefined // no curve point has this r, or the key is the point at infinity
    }
  },
  sign(digest, privateKey) {
    const signed = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' })
    const out = new Uint8Array(65)
    out.set(signed.subarray(1))
    out[64] = signed[0]!
    return out
  },
  publicKey: privateKey => secp256k1.getPublicKey(privateKey, false).slice(1),
})
