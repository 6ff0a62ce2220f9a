import { concatBytes, EMPTY_BYTES, hexToBytes } from '@tandem/base/bytes.ts'
import { type ChainParams, NETWORKS } from '../../../src/config/networks.ts'
import type { Argon2Provider } from '../../../src/crypto/argon2.ts'
import { keccak256Parts } from '../../../src/crypto/hash.ts'
import { nativeSealHash, PROOF_SEEDS, sha256dHash } from '../../../src/crypto/proof-hash.ts'
import { type ProofHeader, type ProofTemplate, proofSealHash } from '../../../src/primitives/proof-header.ts'

/* Proof chain of a simulated committee: the shipped rules, with a few hashes a header and without the memory of Argon2id. */

export const SIM_CHAIN_ID = 1_998_999

/** Short distances and ages, so that targets move and anchors expire within a run. */
export const simProofParams = (forkHeight: number | null): ChainParams => ({
  ...NETWORKS.devnet,
  chainId: SIM_CHAIN_ID,
  forks: [{ name: 'nativeHash', height: forkHeight }],
  proofChain: {
    ...NETWORKS.devnet.proofChain,
    spacingBlocks: 2,
    halfLifeBlocks: 40,
    maxAnchorAgeBlocks: 4,
    maxTargetBefore: 2n ** 254n - 1n,
    maxTargetAfter: 2n ** 255n - 1n,
  },
})

const stubHash = (message: Uint8Array, salt: Uint8Array): Uint8Array => keccak256Parts([message, salt])

/** One Keccak in place of Argon2id. */
export const stubArgon2: Argon2Provider = {
  name: 'node:crypto',
  hash: async (message, salt) => stubHash(message, salt),
  hashSync: stubHash,
}

/** Mix hash of a nonce with the stub, computed as a header's rules say. */
export const stubMixHash = (sealHash: Uint8Array, nonce: Uint8Array): Uint8Array =>
  stubHash(concatBytes(sealHash, nonce), PROOF_SEEDS[1].subarray(0, 16))

/** Returns the template with the first nonce that meets its target. */
export const solveProof = (template: ProofTemplate): ProofHeader => {
  const sealHash = proofSealHash(SIM_CHAIN_ID, template)
  const nonce = new Uint8Array(8)
  const view = new DataView(nonce.buffer)
  for (let value = 0; ; value++) {
    view.setUint32(4, value)
    const isBefore = template.version === 1
    const mixHash = isBefore ? EMPTY_BYTES : stubMixHash(hexToBytes(sealHash), nonce)
    const hash = isBefore ? sha256dHash(sealHash, nonce) : nativeSealHash(sealHash, nonce, mixHash)
    if (hash <= template.target) return { ...template, nonce, mixHash }
  }
}
