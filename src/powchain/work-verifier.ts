import { bytesEqual, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { Argon2Provider } from '../crypto/argon2.ts'
import { nativeMixHash } from '../crypto/proof-hash.ts'
import { type ProofHeader, proofSealHash } from '../primitives/proof-header.ts'
import type { ProofHeaderError } from '../rules/proof/proof-header.ts'

/** Checks a header's Argon2id hash, the expensive half. Hashes are cached: one known from gossip or a share costs a look-up. */
export class WorkVerifier {
  readonly #chainId: number
  readonly #provider: () => Promise<Argon2Provider>
  /** By seal hash and nonce. Promises, so that a header received twice at once is hashed once. */
  readonly #hashes = new Lru<string, Promise<Uint8Array>>(PROOF_CHAIN_LIMITS.verifiedHeaders)

  #count = 0

  constructor(chainId: number, provider: () => Promise<Argon2Provider>) {
    this.#chainId = chainId
    this.#provider = async () => {
      this.#count++
      return provider()
    }
  }

  /** Argon2id hashes since the start. */
  get count(): number {
    return this.#count
  }

  /** Called when everything cheap was checked. Rejects with CodedError<ProofHeaderError>, PROOF_MIX_HASH. */
  async verify(header: ProofHeader): Promise<void> {
    if (header.version === 1) return
    const { nonce, mixHash } = header
    const want = await this.#hash(proofSealHash(this.#chainId, header), nonce)
    if (bytesEqual(want, mixHash)) return
    throw new CodedError<ProofHeaderError>({
      code: 'PROOF_MIX_HASH',
      reason: 'not the Argon2id hash of the seal hash and nonce',
    })
  }

  /** Returns the Argon2id hash of a share; not kept, since most shares are no headers. */
  async mixHash(sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array> {
    return (await this.#hashes.get(keyOf(sealHash, nonce))) ?? nativeMixHash(await this.#provider(), sealHash, nonce)
  }

  /** Keeps a hash computed by `mixHash` for the header that it belongs to. */
  keep(sealHash: Hex, nonce: Uint8Array, mixHash: Uint8Array): void {
    this.#hashes.set(keyOf(sealHash, nonce), Promise.resolve(mixHash))
  }

  #hash(sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array> {
    const key = keyOf(sealHash, nonce)
    const known = this.#hashes.get(key)
    if (known !== undefined) return known
    const hashing = this.#provider().then(provider => nativeMixHash(provider, sealHash, nonce))
    this.#hashes.set(key, hashing)
    hashing.catch(() => this.#hashes.delete(key))
    return hashing
  }
}

const keyOf = (sealHash: Hex, nonce: Uint8Array): string => sealHash + bytesToHex(nonce)
