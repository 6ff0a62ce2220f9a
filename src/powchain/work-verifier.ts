import { PROOF_CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { Argon2Provider } from '../crypto/argon2/provider.ts'
import { nativeMixHash } from '../crypto/proof-hash.ts'
import { type ProofHeader, proofSealHash } from '../primitives/proof-header.ts'
import type { ProofHeaderError } from '../rules/proof-header.ts'
import { bytesEqual, type Hex } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import { Lru } from '../util/lru.ts'

/**
 * The expensive half of a header's work: whether its mix hash is the Argon2id hash it claims to be. A header that was found right is not
 * hashed again, so that one known from gossip costs its block a look-up.
 */
export class WorkVerifier {
  readonly #chainId: number
  readonly #provider: () => Promise<Argon2Provider>
  /** By id. Promises: a header that comes twice at once is hashed once. */
  readonly #verified = new Lru<Hex, Promise<void>>(PROOF_CHAIN_LIMITS.verifiedHeaders)

  constructor(chainId: number, provider: () => Promise<Argon2Provider>) {
    this.#chainId = chainId
    this.#provider = provider
  }

  /** To be asked when everything cheap was checked. Rejects with CodedError<ProofHeaderError>, PROOF_MIX_HASH. */
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
