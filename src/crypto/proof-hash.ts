import { bytesToBigint, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Argon2Provider } from './argon2.ts'
import { keccak256, keccak256Parts } from './hash.ts'
import { sha256 } from './sha256.ts'

/* Hash functions of the proof chain (docs/design/proof-chain.md): of seal hash and nonce, compared as a big-endian integer. */

/** Seed values of getWork and salt of Argon2id; they make outdated miners detectable. */
export const PROOF_SEEDS: readonly [Uint8Array, Uint8Array] = [
  keccak256(Buffer.from('proof/1')),
  keccak256(Buffer.from('proof/2')),
]
const SALT_BYTES = 16

/** Version 1: SHA-256 of SHA-256. */
export const sha256dHash = (sealHash: Hex, nonce: Uint8Array): bigint =>
  bytesToBigint(sha256(sha256(hexToBytes(sealHash), nonce)))

/** Version 2, expensive half: the Argon2id result that a header carries as its mixHash, 32 bytes. */
export const nativeMixHash = (argon2: Argon2Provider, sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array> =>
  argon2.hash(Buffer.concat([hexToBytes(sealHash), nonce]), PROOF_SEEDS[1].subarray(0, SALT_BYTES))

/** Mix hash of version 2, computed on the calling thread. */
export const nativeMixHashSync = (argon2: Argon2Provider, sealHash: Hex, nonce: Uint8Array): Uint8Array =>
  argon2.hashSync(Buffer.concat([hexToBytes(sealHash), nonce]), PROOF_SEEDS[1].subarray(0, SALT_BYTES))

/** Version 2, cheap half: the Keccak seal over a claimed mixHash. A forger must meet the target here before Argon2id is ever run. */
export const nativeSealHash = (sealHash: Hex, nonce: Uint8Array, mixHash: Uint8Array): bigint =>
  bytesToBigint(keccak256Parts([hexToBytes(sealHash), nonce, mixHash]))
