import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { argon2Provider } from '../../crypto/argon2.ts'
import { nativeMixHashSync, nativeSealHash, sha256dHash } from '../../crypto/proof-hash.ts'
import { PROOF_NONCE_BYTES } from '../../primitives/proof-header.ts'

/** Range of nonces to search: those with the same first bytes, from a counter on. */
interface NonceSearch {
  readonly version: number
  readonly sealHash: Hex
  readonly target: bigint
  /** First bytes of each nonce, at most four: searches with different ones do not overlap. */
  readonly prefix: Uint8Array
  /** Value to begin with of the counter in the last bytes, at most six. */
  readonly from: number
  readonly budgetMs: number
}

export interface SearchResult {
  /** Position for the next search. */
  readonly next: number
  readonly hashes: number
  readonly found: { readonly nonce: Uint8Array; readonly mixHash: Uint8Array } | undefined
}

/** Hashes of version 1 between two checks of the clock. */
const CHEAP_HASHES = 512
/** Longest counter of a nonce that a number holds exactly. */
const COUNTER_BYTES = 6

/** Searches for a nonce that meets the target until one is found or the time is over. */
export const searchNonces = async (search: NonceSearch): Promise<SearchResult> => {
  const { version, sealHash, target, from, budgetMs } = search
  const argon2 = version === 2 ? await argon2Provider() : undefined
  const endMs = performance.now() + budgetMs
  const nonce = Buffer.alloc(PROOF_NONCE_BYTES)
  nonce.set(search.prefix)
  const counterBytes = Math.min(COUNTER_BYTES, PROOF_NONCE_BYTES - search.prefix.byteLength)
  const counters = 2 ** (8 * counterBytes)
  for (let hashes = 0; ; ) {
    nonce.writeUIntBE((from + hashes) % counters, PROOF_NONCE_BYTES - counterBytes, counterBytes)
    // Node's thread pool, where other hashes run, is shared with the database.
    const mixHash = argon2 ? nativeMixHashSync(argon2, sealHash, nonce) : EMPTY_BYTES
    const hash = argon2 ? nativeSealHash(sealHash, nonce, mixHash) : sha256dHash(sealHash, nonce)
    hashes++
    const next = from + hashes
    if (hash <= target) return { next, hashes, found: { nonce: new Uint8Array(nonce), mixHash } }
    const isLook = argon2 !== undefined || hashes % CHEAP_HASHES === 0
    if (isLook && performance.now() >= endMs) return { next, hashes, found: undefined }
  }
}
