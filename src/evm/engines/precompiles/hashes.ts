import { createHash, getHashes } from 'node:crypto'
import { ripemd160 } from '@noble/hashes/legacy.js'
import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { outOfGasResult, type Precompile, runPacedResult } from './precompile.ts'

/* SHA-256 and RIPEMD-160 of inputs of possibly megabytes, in parts. */

interface Hash {
  update(data: Uint8Array): unknown
  digest(): Uint8Array
}

const WORD_BYTES = 32

/** Digest right-aligned in a word. */
function* digest(hash: Hash, data: Uint8Array, partBytes: number): SlicedWork<Uint8Array> {
  for (let at = 0; at < data.byteLength; at += partBytes) {
    if (at > 0) yield
    hash.update(data.subarray(at, at + partBytes))
  }
  const bytes = hash.digest()
  const word = new Uint8Array(WORD_BYTES)
  word.set(bytes, WORD_BYTES - bytes.byteLength)
  return word
}

const hashPrecompile =
  (name: string, partBytes: number, create: () => Hash): Precompile =>
  input => {
    const { data, gasLimit, common } = input
    const words = BigInt(Math.ceil(data.byteLength / WORD_BYTES))
    const gas = common.param(`${name}Gas`) + common.param(`${name}WordGas`) * words
    return gas > gasLimit ? outOfGasResult(gasLimit) : runPacedResult(input, gas, digest(create(), data, partBytes))
  }

export const sha256Precompile = hashPrecompile('sha256', 512 * 1024, () => createHash('sha256'))
/** OpenSSL's where it has one; it may be built without. */
const createRipemd160: () => Hash = getHashes().includes('ripemd160')
  ? () => createHash('ripemd160')
  : () => ripemd160.create()
export const ripemd160Precompile = hashPrecompile('ripemd160', 64 * 1024, createRipemd160)
