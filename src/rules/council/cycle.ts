import { assert } from '@tandem/base/assert.ts'
import { concatBytes, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../crypto/hash.ts'

/* Cycle c has blocks c * cycleBlocks + 1 .. (c + 1) * cycleBlocks (docs/design/council.md#cycles); genesis counts to cycle 0. */

export const cycleOf = (number: number, cycleBlocks: number): number => {
  assert(number >= 0 && cycleBlocks > 0, 'a block number and a cycle length')
  return number === 0 ? 0 : Math.floor((number - 1) / cycleBlocks)
}

export const firstOfCycle = (cycle: number, cycleBlocks: number): number => cycle * cycleBlocks + 1

export const lastOfCycle = (cycle: number, cycleBlocks: number): number => (cycle + 1) * cycleBlocks

/** Block after which a cycle's council was read: the last two cycles before; genesis for the first two (docs/design/council.md#cycles). */
export const councilBlockOf = (cycle: number, cycleBlocks: number): number => Math.max(0, cycle - 1) * cycleBlocks

/** Returns true for a block that pays the rewards of its cycle. */
export const endsCycle = (number: number, cycleBlocks: number): boolean => number > 0 && number % cycleBlocks === 0

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

/** DIFFICULTY/PREVRANDAO of a block: keccak256(seed of its cycle, number as u64). Known a cycle ahead, so unsuitable for lotteries. */
export const prevRandao = (seed: Hex, number: number): Hex => keccak256Hex(concatBytes(hexToBytes(seed), u64(number)))

/** Encodes a number in eight bytes, big-endian. */
export const u64 = (value: number): Uint8Array => {
  const out = Buffer.alloc(8)
  out.writeUInt32BE(Math.floor(value / 0x1_0000_0000), 0)
  out.writeUInt32BE(value % 0x1_0000_0000, 4)
  return out
}
