import { createHash, getHashes, hash } from 'node:crypto'
import { ripemd160 } from '@noble/hashes/legacy.js'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesToBigint, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../../crypto/hash.ts'
import { isP256Signature } from '../../../crypto/p256.ts'
import { isScalar, signatures } from '../../../crypto/signature.ts'
import {
  BLAKE2_INPUT_BYTES,
  blake2Compress,
  ROUNDS_PER_PART,
  shortBlake2Compress,
} from '../../../crypto/wasm/blake2.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import { flagWord, type InputPrice, inputSlice, inSlices, type PrecompileOutput, type Run } from './precompile.ts'

/* Signatures, and hashes of inputs of possibly megabytes, in parts. */

const WORD_BYTES = 32

/** Hash, v, r and s of 32 bytes each; missing ones are zero. A false signature has no output, and does not fail. */
export const ecrecover: Run = data => {
  const input = inputSlice(data, 0, 4 * WORD_BYTES)
  const v = input[63] as number
  for (let i = 32; i < 63; i++) if (input[i] !== 0) return EMPTY_BYTES
  if (v !== 27 && v !== 28) return EMPTY_BYTES
  const signature = input.subarray(64)
  if (!isScalar(signature.subarray(0, 32)) || !isScalar(signature.subarray(32))) return EMPTY_BYTES
  const key = signatures().recover(input.subarray(0, 32), signature, v === 27 ? 0 : 1)
  if (key === undefined) return EMPTY_BYTES
  const output = new Uint8Array(WORD_BYTES)
  output.set(keccak256(key.byteLength === 65 ? key.subarray(1) : key).subarray(12), 12)
  return output
}

interface Hash {
  update(data: Uint8Array): unknown
  digest(): Uint8Array
}

/** Digest right-aligned in a word. */
function* digest(hasher: Hash, data: Uint8Array, partBytes: number): SlicedWork<PrecompileOutput> {
  for (let at = 0; at < data.byteLength; at += partBytes) {
    if (at > 0) yield
    hasher.update(data.subarray(at, at + partBytes))
  }
  const bytes = hasher.digest()
  const word = new Uint8Array(WORD_BYTES)
  word.set(bytes, WORD_BYTES - bytes.byteLength)
  return word
}

/** Longer inputs are hashed in parts. */
const AT_ONCE_BYTES = 64 * 1024

const longSha256 = inSlices(data => digest(createHash('sha256'), data, 512 * 1024))
export const sha256Digest: Run = (data, check) =>
  data.byteLength > AT_ONCE_BYTES ? longSha256(data, check) : hash('sha256', data, 'buffer')

/** OpenSSL's where it has one; it may be built without. */
const createRipemd160: () => Hash = getHashes().includes('ripemd160')
  ? () => createHash('ripemd160')
  : () => ripemd160.create()
export const ripemd160Digest = inSlices(data => digest(createRipemd160(), data, 64 * 1024))

const roundsOf = (data: Uint8Array): number => new DataView(data.buffer, data.byteOffset).getUint32(0)

/** EIP-152: a gas a round. */
export const blake2Price: InputPrice = data => {
  const last = data[BLAKE2_INPUT_BYTES - 1]
  const isWrong = data.byteLength !== BLAKE2_INPUT_BYTES || (last !== 0 && last !== 1)
  return isWrong ? PRECOMPILE_REASON.outOfRange : BigInt(roundsOf(data))
}
const longBlake2 = inSlices(data => blake2Compress(data, roundsOf(data)))
export const blake2: Run = (data, check) => {
  const rounds = roundsOf(data)
  return rounds > ROUNDS_PER_PART ? longBlake2(data, check) : shortBlake2Compress(data, rounds)
}

/** EIP-7951: digest, r, s, and the coordinates of the key. A false signature has no output, and does not fail. */
export const p256Verify: Run = data => {
  const word = (index: number): bigint => bytesToBigint(data.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES))
  const isWhole = data.byteLength === 5 * WORD_BYTES
  const isValid = isWhole && isP256Signature(word(0), word(1), word(2), { x: word(3), y: word(4) })
  return isValid ? flagWord(true) : EMPTY_BYTES
}
