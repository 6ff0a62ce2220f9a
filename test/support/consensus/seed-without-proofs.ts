import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { firstSeed, nextSeed } from '../../../src/rules/council/cycle.ts'

/** Seed of a cycle on a chain that has no proof header. */
export const seedWithoutProofs = (genesisHash: Hex, cycle: number): Hex => {
  let seed = firstSeed(genesisHash)
  for (let at = 1; at <= cycle; at++) seed = nextSeed(seed, ZERO_HASH, at)
  return seed
}
