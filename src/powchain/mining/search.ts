import type { Argon2Provider } from '../../crypto/argon2/provider.ts'
import { argon2Provider } from '../../crypto/argon2.ts'
import { nativeMixHash, nativeMixHashSync, nativeSealHash, sha256dHash } from '../../crypto/proof-hash.ts'
import { EMPTY_BYTES, type Hex } from '../../util/bytes.ts'

/** Range of nonces to search: those with one first byte, from a counter on. */
interface NonceSearch {
  readonly version: number
  readonly sealHash: Hex
  readonly target: bigint
  /** First byte of each nonce: searches with different ones do not overlap. */
  readonly prefix: number
  /** Value of the last six bytes to begin with. */
  readonly from: number
  readonly budgetMs: number
}

interface SearchResult {
  /** Position for the next search. */
  readonly next: number
  readonly hashes: number
  readonly found: { readonly nonce: Uint8Array; readonly mixHash: Uint8Array } | undefined
}

/** Hashes of version 1 between two checks of the clock. */
const CHEAP_HASHES = 512

/** Searches for a nonce that meets the target until one is found or the time is over. */
export const searchNonces = async (search: NonceSearch): Promise<SearchResult> => {
  const { version, sealHash, target, from, budgetMs } = search
  const argon2 = version === 2 ? await argon2Provider() : undefined
  const endMs = performance.now() + budgetMs
  const nonce = Buffer.alloc(8)
  nonce[0] = search.prefix
  for (let hashes = 0; ; ) {
    nonce.writeUIntBE(from + hashes, 2, 6)
    const mixHash = argon2 ? await mixHashOf(argon2, sealHash, nonce) : EMPTY_BYTES
    const hash = argon2 ? nativeSealHash(sealHash, nonce, mixHash) : sha256dHash(sealHash, nonce)
    hashes++
    const next = from + hashes
    if (hash <= target) return { next, hashes, found: { nonce: new Uint8Array(nonce), mixHash } }
    const isLook = argon2 !== undefined || hashes % CHEAP_HASHES === 0
    if (isLook && performance.now() >= endMs) return { next, hashes, found: undefined }
  }
}

/** Hashes on this thread if the provider can: its thread pool is shared with the database. */
const mixHashOf = (argon2: Argon2Provider, sealHash: Hex, nonce: Uint8Array): Uint8Array | Promise<Uint8Array> =>
  nativeMixHashSync(argon2, sealHash, nonce) ?? nativeMixHash(argon2, sealHash, nonce)
