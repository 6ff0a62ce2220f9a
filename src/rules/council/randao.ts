import { asBuffer, bytesToHex, concatBytes, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256, keccak256Hex } from '../../crypto/hash.ts'

/*
 * Randomness of the chain (docs/design/evm-rules.md#block-values, docs/design/council.md#seed). A cycle's seed includes
 * the proof tip of two cycles before: a header costs work and is final when included, so it cannot be chosen freely.
 * Without a miner the seeds are predictable, but cannot be influenced.
 */

/** Seed of a cycle: keccak256(seed before, id of the proof tip at the end of the cycle before that, cycle as u64). */
export const nextSeed = (previousSeed: Hex, proofTip: Hex, cycle: number): Hex =>
  keccak256Hex(concatBytes(hexToBytes(previousSeed), hexToBytes(proofTip), u64(cycle)))

/** Seed of cycle 0: the genesis hash takes the place of the previous seed, and there is no proof tip yet. */
export const firstSeed = (genesisHash: Hex): Hex => nextSeed(genesisHash, ZERO_HASH, 0)

/**
 * DIFFICULTY/PREVRANDAO of a block: keccak256(seed of its cycle, number as u64). Known a cycle ahead, so unsuitable for
 * lotteries.
 */
export const prevRandao = (seed: Hex, number: number): Hex =>
  bytesToHex(keccak256(concatBytes(hexToBytes(seed), u64(number))))

const u64 = (value: number): Uint8Array => {
  const out = new Uint8Array(8)
  asBuffer(out).writeBigUInt64BE(BigInt(value))
  return out
}
