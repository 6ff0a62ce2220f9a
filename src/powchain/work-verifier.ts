import { bytesEqual, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { Argon2Provider } from '../crypto/argon2.ts'
import { nativeMixHash } from '../crypto/proof-hash.ts'
import { type ProofHeader, proofSealHash } from '../primitives/proof-header.ts'
import type { ProofHeaderError } from '../rules/proof/proof-header.ts'

/** Checks a header's Argon2id hash, the expensive half. Hashes are cached: one known from gossip or a share costs a look-up. */
export const createWorkVerifier = (chainId: number, provider: () => Promise<Argon2Provider>) => {
  /** By seal hash and nonce. Promises, so that a header received twice at once is hashed once. */
  const hashes = new Lru<string, Promise<Uint8Array>>(PROOF_CHAIN_LIMITS.verifiedHeaders)
  let count = 0
  const countedProvider = (): Promise<Argon2Provider> => {
    count++
    return provider()
  }
  const hashOnce = (sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array> => {
    const key = keyOf(sealHash, nonce)
    const known = hashes.get(key)
    if (known !== undefined) return known
    const hashing = countedProvider().then(provider => nativeMixHash(provider, sealHash, nonce))
    hashes.set(key, hashing)
    hashing.catch(() => hashes.delete(key))
    return hashing
  }

  return {
    /** Argon2id hashes since the start. */
    get count(): number {
      return count
    },

    /** Called when everything cheap was checked. Rejects with CodedError<ProofHeaderError>, PROOF_MIX_HASH. */
    async verify(header: ProofHeader): Promise<void> {
      if (header.version === 1) return
      const { nonce, mixHash } = header
      const want = await hashOnce(proofSealHash(chainId, header), nonce)
      if (bytesEqual(want, mixHash)) return
      throw new CodedError<ProofHeaderError>({
        code: 'PROOF_MIX_HASH',
        reason: 'not the Argon2id hash of the seal hash and nonce',
      })
    },

    /** Returns the Argon2id hash of a share; not kept, since most shares are no headers. */
    mixHash: async (sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array> =>
      (await hashes.get(keyOf(sealHash, nonce))) ?? nativeMixHash(await countedProvider(), sealHash, nonce),

    /** Keeps a hash computed by `mixHash` for the header that it belongs to. */
    keep(sealHash: Hex, nonce: Uint8Array, mixHash: Uint8Array): void {
      hashes.set(keyOf(sealHash, nonce), Promise.resolve(mixHash))
    },
  }
}

export type WorkVerifier = ReturnType<typeof createWorkVerifier>

const keyOf = (sealHash: Hex, nonce: Uint8Array): string => sealHash + bytesToHex(nonce)
