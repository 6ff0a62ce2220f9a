import { bytesToBigint, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { isP256Signature } from '../../../crypto/p256.ts'
import { outOfGasResult, type Precompile } from './precompile.ts'

/** EIP-7951. */
const GAS = 6_900n
/** Digest, r, s, and the coordinates of the key. */
const INPUT_BYTES = 160

/** A false signature and input of another length have no output, and do not fail. */
export const p256Verify: Precompile = ({ data, gasLimit }) => {
  if (gasLimit < GAS) return outOfGasResult(gasLimit)
  const word = (index: number): bigint => bytesToBigint(data.subarray(index * 32, index * 32 + 32))
  const isValid =
    data.byteLength === INPUT_BYTES && isP256Signature(word(0), word(1), word(2), { x: word(3), y: word(4) })
  if (!isValid) return { returnValue: EMPTY_BYTES, executionGasUsed: GAS }
  const returnValue = new Uint8Array(32)
  returnValue[31] = 1
  return { returnValue, executionGasUsed: GAS }
}
