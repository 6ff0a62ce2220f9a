import { keccak256Hex } from '../../crypto/hash.ts'
import { decodeOrMalformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { RlpCursor } from '../../primitives/rlp/rlp-cursor.ts'
import { bigintToBytes, type Hex, hexToBytes } from '../../util/bytes.ts'
import type { ProofState } from './proof-header.ts'

/**
 * RLP of [tip id, height, anchor, target, coinbase, total work, height, anchor and target of the reference]: for rows of the store,
 * snapshots, and the commitment in the state.
 */
export const encodeProofState = (state: ProofState): Uint8Array =>
  encodeRlp([
    hexToBytes(state.tipId),
    uintItem(state.tipHeight),
    uintItem(state.tipAnchor),
    bigintToBytes(state.tipTarget),
    hexToBytes(state.coinbase),
    bigintToBytes(state.totalWork),
    uintItem(state.reference.height),
    uintItem(state.reference.anchorNumber),
    bigintToBytes(state.reference.target),
  ])

/** Strict. Throws PROOF_STATE_MALFORMED. */
export const decodeProofState = (bytes: Uint8Array): ProofState =>
  decodeOrMalformed('PROOF_STATE_MALFORMED', () => {
    const cursor = new RlpCursor(bytes)
    const outer = cursor.openList()
    const state: ProofState = {
      tipId: cursor.hex(32),
      tipHeight: cursor.safeUint(),
      tipAnchor: cursor.safeUint(),
      tipTarget: cursor.uint(32),
      coinbase: cursor.hex(20),
      totalWork: cursor.uint(64),
      reference: { height: cursor.safeUint(), anchorNumber: cursor.safeUint(), target: cursor.uint(32) },
    }
    cursor.closeList(outer)
    cursor.finish()
    return state
  })

/** Slot of the council contract with the commitment to the proof state after a cycle's last block; zero until the first proof header. */
export const PROOF_STATE_SLOT = keccak256Hex(Buffer.from('tandem.proof.state'))

/** Word in that slot. */
export const proofStateHash = (state: ProofState): Hex => keccak256Hex(encodeProofState(state))
