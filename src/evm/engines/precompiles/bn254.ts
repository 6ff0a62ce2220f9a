import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { isForkSince } from '../../../config/forks.ts'
import {
  ADD_BYTES,
  bn254Add,
  bn254Multiply,
  bn254Pairing,
  MULTIPLY_BYTES,
  PAIR_BYTES,
} from '../../../crypto/wasm/bn254.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { flagWord, type InputPrice, inputSlice, inSlices, type PrecompileOutput, type Run } from './precompile.ts'

/* EIP-196 and EIP-197, priced by EIP-1108 from Istanbul on. */

/** Reads points from the first bytes of the input, padded with zeros. */
const onPoints =
  (size: number, compute: (bytes: Uint8Array) => Uint8Array | undefined): Run =>
  data =>
    compute(inputSlice(data, 0, size)) ?? PRECOMPILE_REASON.revert

export const addPoints = onPoints(ADD_BYTES, bn254Add)
export const multiplyPoint = onPoints(MULTIPLY_BYTES, bn254Multiply)

export const pairingPrice: InputPrice = (data, fork) => {
  if (data.byteLength % PAIR_BYTES !== 0) return PRECOMPILE_REASON.inputLength
  const pairs = BigInt(data.byteLength / PAIR_BYTES)
  return isForkSince(fork, 'istanbul') ? 45_000n + 34_000n * pairs : 100_000n + 80_000n * pairs
}

function* pair(data: Uint8Array): SlicedWork<PrecompileOutput> {
  const outcome = yield* bn254Pairing(data)
  if (outcome === 'not a point') return PRECOMPILE_REASON.revert
  return outcome === 'not in the field' ? PRECOMPILE_REASON.notInField : flagWord(outcome)
}
export const pairing = inSlices(pair)
