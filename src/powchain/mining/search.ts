import type { Argon2Provider } from '../../crypto/argon2/provider.ts'
import { argon2Provider } from '../../crypto/argon2.ts'
import { nativeMixHash, nativeMixHashSync, nativeSealHash, sha256dHash } from '../../crypto/proof-hash.ts'
import { EMPTY_BYTES, type Hex } from '../../util/bytes.ts'

/** A range of nonces to look through: those with one first byte, from a counter on. */
export interface NonceSearch {
  readonly version: number
  readonly sealHash: Hex
  readonly target: bigint
  /** First byte of each nonce: searches with different ones do not meet. */
  readonly prefix: number
  /** Value of the last six bytes to begin with. */
  readonly from: number
  readonly budgetMs: number
}

export interface SearchResult {
  /** Position for the next search. */
  readonly next: number
  readonly hashes: number
  readonly found: { readonly nonce: Uint8Array; readonly mixHash: Uint8Array } | undefined
}

/** Version 1 looks at the clock once in so many hashes. */
const CHEAP_HASHES = 512

/** Looks for a nonce that meets the target until one is found or the time is over. */
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

/** On this thread where the provider can: the pool of threads that it would use otherwise is the database's too. */
const mixHashOf = (argon2: Argon2Provider, sealHash: Hex, nonce: Uint8Array): Uint8Array | Promise<Uint8Array> =>
  nativeMixHashSync(argon2, sealHash, nonce) ?? nativeMixHash(argon2, sealHash, nonce)
