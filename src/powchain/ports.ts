import type { PeerId } from '../primitives/peer-id.ts'

/** Exchange of encoded proof headers with neighbours, at most PROOF_HEADER_BYTES each. */
export interface ProofNetworkPort {
  broadcast(encoded: Uint8Array): void
  onProofHeader(listener: (encoded: Uint8Array, from: PeerId) => void): () => void
  /** Reports a neighbour whose header breaks a rule on every node. */
  misbehaved(peer: PeerId, reason: string): void
}
