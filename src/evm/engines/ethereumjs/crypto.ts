import { createHash } from 'node:crypto'
import type { CustomCrypto } from '@ethereumjs/common'
import { keccak256 } from '../../../crypto/hash.ts'
import { recoverPublicKey } from '../../../crypto/signature.ts'

/** Pads a big-endian number without leading zeros to 32 bytes. */
const padWord = (bytes: Uint8Array): Uint8Array => {
  if (bytes.byteLength === 32) return bytes
  const word = new Uint8Array(32)
  word.set(bytes, 32 - bytes.byteLength)
  return word
}

/** v as 0/1 (typed transactions), 27/28, or 35/36 + 2 * chain id (EIP-155). Other values give no valid recovery id. */
const recoveryIdOf = (v: bigint, chainId: bigint | undefined): number => {
  if (v === 0n || v === 1n) return Number(v)
  return Number(chainId === undefined ? v - 27n : v - (chainId * 2n + 35n))
}

const ecrecover = (digest: Uint8Array, v: bigint, r: Uint8Array, s: Uint8Array, chainId?: bigint): Uint8Array => {
  if (r.byteLength > 32 || s.byteLength > 32) throw new Error('signature value longer than 32 bytes')
  const signature = new Uint8Array(64)
  signature.set(padWord(r))
  signature.set(padWord(s), 32)
  const key = recoverPublicKey(digest, signature, recoveryIdOf(v, chainId))
  if (key === undefined) throw new Error('no public key has this signature')
  return key
}

/**
 * For `new Common({ customCrypto })`: the libraries' transactions, blocks, tries and precompiles then use this node's hashes and
 * recovery.
 */
export const customCrypto: CustomCrypto = {
  keccak256,
  sha256: bytes => new Uint8Array(createHash('sha256').update(bytes).digest()),
  ecrecover,
}
