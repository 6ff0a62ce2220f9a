import { CodedError } from '@tandem/base/errors.ts'
import type { ChainParams } from '../../config/networks.ts'
import { SEAL_TARGET, SEALED_FIELDS, sealAboveTarget } from '../../crypto/proof-seal.ts'
import { type ProofHeader, writeSealedFields } from '../../primitives/proof-header.ts'
import { checkProofVersion, type ProofHeaderError } from './proof-header.ts'
import { maxTargetOf } from './proof-target.ts'

/**
 * Checks the work of a header as far as one cheap hash shows it: all of version 1; for version 2 that the Keccak seal over the
 * claimed mixHash meets the target, so that a forger pays for each header before Argon2id is run once.
 * Throws CodedError<ProofHeaderError>, PROOF_WORK.
 */
export const checkProofSeal = (chainId: number, header: ProofHeader): void => {
  const sealedBytes = writeSealedFields(chainId, header, SEALED_FIELDS, SEAL_TARGET)
  const have = sealAboveTarget(header.version, sealedBytes, header.nonce, header.mixHash)
  if (have !== undefined) throw new CodedError<ProofHeaderError>({ code: 'PROOF_WORK', have, want: header.target })
}

/** Checks version and least work of a header without known parent, so that it costs its sender. Throws CodedError<ProofHeaderError>. */
export const checkLeastWork = (params: ChainParams, header: ProofHeader): void => {
  const want = maxTargetOf(params.proofChain, checkProofVersion(params, header))
  if (header.target > want) throw new CodedError<ProofHeaderError>({ code: 'PROOF_TARGET', have: header.target, want })
  checkProofSeal(params.chainId, header)
}
