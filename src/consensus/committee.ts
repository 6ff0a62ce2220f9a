import { keccak256 } from '../crypto/hash.ts'
import { assert } from '../util/assert.ts'
import { compareBytes, concatBytes, type Hex } from '../util/bytes.ts'

/** Validators of one cycle in proposer order. A member's index here is its index in bitmaps and messages. */
export interface Committee {
  readonly members: readonly Hex[]
}

/**
 * Returns the index of the proposer of (number, round): both rotate it, so each round has another proposer
 * (docs/design/council.md#proposer).
 */
export const proposerIndex = (size: number, number: number, round: number): number => (number + round) % size

export const proposerOf = (committee: Committee, number: number, round: number): Hex =>
  committee.members[proposerIndex(committee.members.length, number, round)] as Hex

/** Returns the members in the order of their proposals in rounds 0, 1, ... of a height. */
export const proposerOrder = (committee: Committee, number: number): readonly Hex[] => {
  const first = proposerIndex(committee.members.length, number, 0)
  return [...committee.members.slice(first), ...committee.members.slice(0, first)]
}

/** Council member that may be drawn for a cycle's committee. */
export interface Eligible {
  readonly validator: Hex
  /** Number of its admission, which neither its key nor other members can change. */
  readonly admission: number
  /** True when the cycle's seed may have been known at its admission. */
  readonly isRecent: boolean
}

/**
 * Draws the committee of a cycle: the `committeeSize` eligible members with the lowest scores, ordered by score; all of them when there
 * are fewer. A score is keccak256(seed, admission number), so the choice of a key has no influence, and a member that joins or leaves
 * does not move the others. Recent members are drawn only when the others are too few (docs/council.md).
 */
export const drawCommittee = (members: readonly Eligible[], committeeSize: number, seed: Uint8Array): Committee => {
  assert(new Set(members.map(({ validator }) => validator)).size === members.length, 'council members are distinct')
  const scored = members.map(member => ({ ...member, score: scoreOf(seed, member.admission) }))
  const drawn = scored
    .toSorted((a, b) => Number(a.isRecent) - Number(b.isRecent) || compareBytes(a.score, b.score))
    .slice(0, committeeSize)
  return { members: drawn.sort((a, b) => compareBytes(a.score, b.score)).map(({ validator }) => validator) }
}

const DOMAIN = new TextEncoder().encode('committee')

const scoreOf = (seed: Uint8Array, admission: number): Uint8Array =>
  keccak256(concatBytes(seed, DOMAIN, u64(admission)))

const u64 = (value: number): Uint8Array => {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt(value))
  return out
}
