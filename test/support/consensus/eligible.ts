import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { drawCommittee, type Eligible } from '../../../src/consensus/committee.ts'
import { firstSeed, nextSeed } from '../../../src/rules/council/cycle.ts'

/** Members that have served and sealed, with the admissions from 1 on. */
export const settledMembers = (validators: readonly Hex[]): readonly Eligible[] =>
  validators.map((validator, at) => ({
    validator,
    admission: at + 1,
    isRecent: false,
    isHeard: true,
    idleness: undefined,
  }))

/** Committee of all validators in a cycle of a chain that has no proof header, by index. `first`: first block of the cycle. */
export const membersInCycle = (
  validators: readonly Hex[],
  genesisHash: Hex,
  { cycle, first } = { cycle: 0, first: 1 },
): readonly Hex[] => {
  let seed = firstSeed(genesisHash)
  for (let at = 1; at <= cycle; at++) seed = nextSeed(seed, ZERO_HASH, at)
  const params = { committeeSize: validators.length, seed: hexToBytes(seed), first }
  return drawCommittee(settledMembers(validators), params).members
}
