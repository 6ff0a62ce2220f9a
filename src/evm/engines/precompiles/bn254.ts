import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { isForkSince } from '../../../config/forks.ts'
import {
  ADD_BYTES,
  type Bn254Error,
  bn254Add,
  bn254Multiply,
  bn254Pairing,
  MULTIPLY_BYTES,
  PAIR_BYTES,
} from '../../../crypto/wasm/bn254.ts'
import { PRECOMPILE_REASON, type PrecompileReason } from '../../failure-reasons.ts'
import { flagWord, type InputPrice, inputSlice, inSlices, type PrecompileOutput, type Run } from './precompile.ts'

/* EIP-196 and EIP-197, priced by EIP-1108 from Istanbul on. */

const REASONS: Readonly<Record<Bn254Error['code'], PrecompileReason>> = {
  NOT_A_POINT: PRECOMPILE_REASON.revert,
  NOT_IN_FIELD: PRECOMPILE_REASON.notInField,
}

const reasonOf = (error: unknown): PrecompileReason => {
  if (!isCoded(error) || !(error.code in REASONS)) throw error
  return REASONS[error.code as Bn254Error['code']]
}

/** Reads points from the first bytes of the input, padded with zeros. */
const onPoints =
  (size: number, compute: (bytes: Uint8Array) => Uint8Array): Run =>
  data => {
    try {
      return compute(inputSlice(data, 0, size))
    } catch (error) {
      return reasonOf(error)
    }
  }

export const addPoints = onPoints(ADD_BYTES, bn254Add)
export const multiplyPoint = onPoints(MULTIPLY_BYTES, bn254Multiply)

export const pairingPrice: InputPrice = (data, fork) => {
  if (data.byteLength % PAIR_BYTES !== 0) return PRECOMPILE_REASON.inputLength
  const pairs = BigInt(data.byteLength / PAIR_BYTES)
  return isForkSince(fork, 'istanbul') ? 45_000n + 34_000n * pairs : 100_000n + 80_000n * pairs
}

function* pair(data: Uint8Array): SlicedWork<PrecompileOutput> {
  try {
    return flagWord(yield* bn254Pairing(data))
  } catch (error) {
    return reasonOf(error)
  }
}
export const pairing = inSlices(pair)
