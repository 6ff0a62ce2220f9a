import { bytesToHex, EMPTY_BYTES, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nativeSealHash, sha256dHash } from '../../src/crypto/proof-hash.ts'
import { SEAL_TARGET, SEALED_FIELDS, sealAboveTarget } from '../../src/crypto/proof-seal.ts'
import { type ProofHeader, proofSealHash, writeSealedFields } from '../../src/primitives/proof-header.ts'
import { checkProofSeal } from '../../src/rules/proof/proof-work.ts'
import { SEED } from '../support/seed.ts'

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const uint = fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff, 0x100, 2 ** 32, Number.MAX_SAFE_INTEGER), fc.maxSafeNat())
const header: fc.Arbitrary<ProofHeader> = fc.record({
  version: fc.constantFrom(1, 2),
  parentId: bytes(32).map(bytesToHex),
  height: uint,
  anchorNumber: uint,
  anchorHash: bytes(32).map(bytesToHex),
  coinbase: bytes(20).map(bytesToHex),
  target: fc.oneof(
    fc.constantFrom(0n, 1n, 0x7fn, 0x80n, 2n ** 256n - 1n),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  ),
  extraNonce: fc.uint8Array({ maxLength: 32 }),
  nonce: bytes(8),
  mixHash: fc.oneof(bytes(32), fc.constant(EMPTY_BYTES)),
})

/** Hash by the plain functions, as miners compute it. */
const hashOf = (chainId: number, proof: ProofHeader): bigint => {
  const sealHash = proofSealHash(chainId, proof)
  return proof.version === 1 ? sha256dHash(sealHash, proof.nonce) : nativeSealHash(sealHash, proof.nonce, proof.mixHash)
}

/** undefined for work that meets the target, otherwise the hash that the check found. */
const checked = (chainId: number, proof: ProofHeader): unknown => {
  try {
    return checkProofSeal(chainId, proof)
  } catch (error) {
    if (!isCoded(error)) throw error
    return (error.detail as unknown as { readonly have: bigint }).have
  }
}

test('the check in WebAssembly finds the hash that miners compute, and draws the line at the target', () => {
  fc.assert(
    fc.property(uint, header, (chainId, proof) => {
      const hash = hashOf(chainId, proof)
      expect(checked(chainId, proof)).toBe(hash <= proof.target ? undefined : hash)
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})

test('a hash equal to the target meets it, one above does not', () => {
  fc.assert(
    fc.property(header, proof => {
      const { version, nonce, mixHash } = proof
      const hash = hashOf(1, proof)
      const size = writeSealedFields(1, proof, SEALED_FIELDS, SEAL_TARGET)
      // The target of the comparison, beside the one that the seal covers.
      const below = (target: bigint) => {
        SEAL_TARGET.set(hexToBytes(toWord(target)))
        return sealAboveTarget(version, size, nonce, mixHash)
      }
      expect(below(hash)).toBeUndefined()
      expect(below(hash - 1n)).toBe(hash)
      for (const bit of [0n, 63n, 64n, 127n, 128n, 191n, 192n, 255n]) {
        const other = hash ^ (1n << bit)
        expect(below(other)).toBe(other > hash ? undefined : hash)
      }
    }),
    { seed: SEED, numRuns: 500 },
  )
})
