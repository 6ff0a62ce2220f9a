import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { ChainParams } from '../../config/networks.ts'
import { decodeProofHeader, type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import {
  type AnchorView,
  checkProofHeader,
  extendProofState,
  MAX_PROOF_HEADERS_PER_BLOCK,
  type ProofState,
} from './proof-header.ts'
import { checkProofSeal } from './proof-work.ts'

/** Proof header that a main block makes final. */
export interface IncludedProof {
  readonly id: Hex
  readonly header: ProofHeader
  /** Canonical RLP, as in the body. */
  readonly bytes: Uint8Array
  /** State of the proof chain after it. */
  readonly state: ProofState
}

/** Proof headers that no block may have. */
export type ProofInclusionError =
  | { readonly code: 'PROOF_COUNT'; readonly have: number; readonly want: number }
  | { readonly code: 'PROOF_TIP'; readonly have: Hex; readonly want: Hex }

/** State of the proof chain after a block: that of its last header, or the previous state. */
export const proofStateAfter = (before: ProofState, included: readonly IncludedProof[]): ProofState =>
  included.at(-1)?.state ?? before

/**
 * Checks the proof headers of a block's body, each against the previous one: form, rules, and the cheap hash of its work. The Argon2id hash
 * of version 2, which takes milliseconds, is checked separately (powchain/work-verifier.ts). Throws CodedError<ProofInclusionError |
 * ProofHeaderError | ProofHeaderMalformed>.
 */
export const includeProofHeaders = (
  params: ChainParams,
  before: ProofState,
  encoded: readonly Uint8Array[],
  view: AnchorView,
): readonly IncludedProof[] => {
  if (encoded.length > MAX_PROOF_HEADERS_PER_BLOCK)
    throw new CodedError<ProofInclusionError>({
      code: 'PROOF_COUNT',
      have: encoded.length,
      want: MAX_PROOF_HEADERS_PER_BLOCK,
    })
  let state = before
  return encoded.map(bytes => {
    const header = decodeProofHeader(bytes)
    checkProofHeader(params, state, header, view)
    checkProofSeal(params.chainId, header)
    const id = proofHeaderId(header)
    state = extendProofState(params, state, header, id)
    return { id, header, bytes, state }
  })
}

/** Checks that the tip in a header's extra data follows from its body. Throws CodedError<ProofInclusionError>. */
export const checkProofTip = (state: ProofState, have: Hex): void => {
  if (have !== state.tipId) throw new CodedError<ProofInclusionError>({ code: 'PROOF_TIP', have, want: state.tipId })
}
