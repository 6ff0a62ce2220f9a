import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { Argon2Provider } from '../crypto/argon2/provider.ts'
import { nativeMixHash } from '../crypto/proof-hash.ts'
import { type ProofHeader, proofSealHash } from '../primitives/proof-header.ts'
import type { ProofHeaderError } from '../rules/proof/proof-header.ts'
import { bytesEqual, type Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import { Lru } from '../util/lru.ts'

/**
 * Expensive half of a header's work: checks that its mix hash is the claimed Argon2id hash. Valid headers are cached, so that one known
 * from gossip costs its block a look-up.
 */
export class WorkVerifier {
  readonly #chainId: number
  readonly #provider: () => Promise<Argon2Provider>
  /** By id. Promises, so that a header received twice at once is hashed once. */
  readonly #verified = new Lru<Hex, Promise<void>>(PROOF_CHAIN_LIMITS.verifiedHeaders)

  constructor(chainId: number, provider: () => Promise<Argon2Provider>) {
    this.#chainId = chainId
    this.#provider = provider
  }

  /** Called when everything cheap was checked. Rejects with CodedError<ProofHeaderError>, PROOF_MIX_HASH. */
  verify(header: ProofHeader, id: Hex): Promise<void> {
    if (header.version === 1) return Promise.resolve()
    const known = this.#verified.get(id)
    if (known !== undefined) return known
    const verifying = this.#hash(header)
    this.#verified.set(id, verifying)
    verifying.catch(() => this.#verified.delete(id))
    return verifying
  }

  async #hash(header: ProofHeader): Promise<void> {
    const { nonce, mixHash } = header
    const want = await nativeMixHash(await this.#provider(), proofSealHash(this.#chainId, header), nonce)
    if (!bytesEqual(want, mixHash))
      throw new CodedError<ProofHeaderError>({
        code: 'PROOF_MIX_HASH',
        reason: 'not the Argon2id hash of the seal hash and nonce',
      })
  }
}
