import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { argon2Provider } from '../../../src/crypto/argon2.ts'
import { nativeMixHash, nativeSealHash, sha256dHash } from '../../../src/crypto/proof-hash.ts'
import { type ProofHeader, type ProofTemplate, proofSealHash } from '../../../src/primitives/proof-header.ts'

const nonceOf = (value: number): Uint8Array => {
  const nonce = new Uint8Array(8)
  new DataView(nonce.buffer).setUint32(4, value)
  return nonce
}

/** The template with the first nonces, in order, that meet its target; slow for any but devnet's targets. */
export const solve = async (chainId: number, template: ProofTemplate): Promise<ProofHeader> => {
  const sealHash = proofSealHash(chainId, template)
  const argon2 = template.version === 2 ? await argon2Provider() : undefined
  for (let value = 0; ; value++) {
    const nonce = nonceOf(value)
    const mixHash = argon2 ? await nativeMixHash(argon2, sealHash, nonce) : EMPTY_BYTES
    const hash = argon2 ? nativeSealHash(sealHash, nonce, mixHash) : sha256dHash(sealHash, nonce)
    if (hash <= template.target) return { ...template, nonce, mixHash }
  }
}
