import { instantiateSecp256k1 } from '@bitauth/libauth'
import type { SignatureProvider } from './native-signatures.ts'

/** libsecp256k1 as WebAssembly. */
export const createLibauthProvider = async (): Promise<SignatureProvider> => {
  const secp256k1 = await instantiateSecp256k1()
  return {
    name: 'libauth-wasm',
    recover(digest, signature, recoveryId) {
      const key = secp256k1.recoverPublicKeyUncompressed(signature, recoveryId as 0 | 1, digest)
      return typeof key === 'string' ? undefined : key.slice(1)
    },
    sign(digest, privateKey) {
      // The library does not check the key before signing.
      if (!secp256k1.validatePrivateKey(privateKey)) throw new Error('invalid private key')
      const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, digest)
      if (typeof signed === 'string') throw new Error(signed)
      const out = new Uint8Array(65)
      out.set(signed.signature)
      out[64] = signed.recoveryId
      return out
    },
    publicKey(privateKey) {
      if (!secp256k1.validatePrivateKey(privateKey)) throw new Error('invalid private key')
      const key = secp256k1.derivePublicKeyUncompressed(privateKey)
      if (typeof key === 'string') throw new Error(key)
      return key.slice(1)
    },
  }
}
