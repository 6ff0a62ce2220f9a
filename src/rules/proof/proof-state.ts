import { bigintToBytes, type Hex, hexToBytes, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { PROOF_BOUNDS } from '../../config/protocol-bounds.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { decodeOrMalformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { readWholeList } from '../../primitives/rlp/rlp-cursor.ts'
import type { ProofState } from './proof-header.ts'

/**
 * RLP of [tip id, height, anchor, target, [coinbase ...], total work, height, anchor and target of the reference]: for rows of the store,
 * snapshots, and the commitment in the state.
 */
export const encodeProofState = (state: ProofState): Uint8Array =>
  encodeRlp([
    hexToBytes(state.tipId),
    uintItem(state.tipHeight),
    uintItem(state.tipAnchor),
    bigintToBytes(state.tipTarget),
    state.coinbases.map(hexToBytes),
    bigintToBytes(state.totalWork),
    uintItem(state.reference.height),
    uintItem(state.reference.anchorNumber),
    bigintToBytes(state.reference.target),
  ])

/** Strict. Throws PROOF_STATE_MALFORMED. */
export const decodeProofState = (bytes: Uint8Array): ProofState =>
  decodeOrMalformed('PROOF_STATE_MALFORMED', () =>
    readWholeList(bytes, cursor => {
      const tip = {
        tipId: cursor.hex(32),
        tipHeight: cursor.safeUint(),
        tipAnchor: cursor.safeUint(),
        tipTarget: cursor.uint(32),
      }
      const coinbases = cursor.items(() => cursor.hex(20), PROOF_BOUNDS.paidHeaders)
      return {
        ...tip,
        coinbase: coinbases.at(-1) ?? ZERO_ADDRESS,
        coinbases,
        totalWork: cursor.uint(64),
        reference: { height: cursor.safeUint(), anchorNumber: cursor.safeUint(), target: cursor.uint(32) },
      }
    }),
  )

/** Slot of the council contract with the commitment to the proof state after a cycle's last block; zero until the first proof header. */
export const PROOF_STATE_SLOT = keccak256Hex(Buffer.from('tandem.proof.state'))

/** Word in that slot. */
export const proofStateHash = (state: ProofState): Hex => keccak256Hex(encodeProofState(state))
