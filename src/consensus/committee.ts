import { assert } from '@tandem/base/assert.ts'
import { compareBytes, concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../crypto/hash.ts'
import { activatedMembers } from '../rules/council/activation-queue.ts'
import type { RatedCouncil } from '../rules/council/council-status.ts'
import { u64 } from '../rules/council/cycle.ts'
import { type Drawn, proposerIndex, restingMembers, type TurnOrder } from '../rules/council/proposer-turns.ts'
import { trialsOf } from '../rules/council/quorum.ts'
import { isHeard, qualifiedValidators } from '../rules/council/validator-activity.ts'

/** Validators of one cycle, proposers first. A member's index here is its index in bitmaps and messages. */
export type Committee = TurnOrder

export const proposerOf = (committee: Committee, number: number, round: number): Hex =>
  committee.members[proposerIndex(committee, number, round)] as Hex

/** Returns the members in the order of their proposals in rounds 0, 1, ... of a height, then those that do not propose. */
export const proposerOrder = (committee: Committee, number: number): readonly Hex[] => {
  const { members, proposers = members.length } = committee
  const first = proposerIndex(committee, number, 0)
  return [...members.slice(first, proposers), ...members.slice(0, first), ...members.slice(proposers)]
}

/** Council member that may be drawn for a cycle's committee. */
export interface Eligible extends Drawn {
  /** True when the cycle's seed may have been known at its admission. */
  readonly isRecent: boolean
}

/**
 * Returns the members of a council that may be drawn. `before`: the council of the cycle before; the seed of a cycle includes the proof tip at
 * its council record, so members admitted since may have known it.
 */
export const eligibleMembers = (
  council: RatedCouncil,
  before: Pick<RatedCouncil, 'number' | 'members'>,
  committeeSize: number,
): readonly Eligible[] => {
  const lastKnown = Math.max(...before.members.map(({ admission }) => admission))
  return qualifiedValidators(activatedMembers(council), council, council.number, committeeSize).map(
    ({ validator, admission }) => ({
      validator,
      admission,
      isRecent: before.number < council.number && admission > lastKnown,
      isHeard: isHeard(validator, council),
      idleness: council.idle.get(validator),
    }),
  )
}

interface DrawParams {
  readonly committeeSize: number
  readonly seed: Uint8Array
  /** First block of the cycle. */
  readonly first: number
}

/**
 * Draws the committee of a cycle: the `committeeSize` eligible members with the lowest scores; all of them when there are fewer. A score is
 * keccak256(seed, admission number), so the choice of a key has no influence, and a member that joins or leaves does not move the others. A
 * sample has at most `trialsOf` members that were not heard in the last cycle they served; more of them, and recent ones last, only where
 * the others are too few (docs/design/council.md#committee). Proposers come first, both parts in the order of scores.
 */
export const drawCommittee = (members: readonly Eligible[], { committeeSize, seed, first }: DrawParams): Committee => {
  assert(new Set(members.map(({ validator }) => validator)).size === members.length, 'council members are distinct')
  const scored = members
    .map(member => ({ ...member, score: scoreOf(seed, member.admission) }))
    .sort((a, b) => compareBytes(a.score, b.score))
  const drawn = new Set(sample(scored, committeeSize))
  const committee = scored.filter(member => drawn.has(member))
  const resting = restingMembers(committee, first)
  const inTurn = (proposes: boolean) =>
    committee.map(({ validator }) => validator).filter(validator => resting.has(validator) !== proposes)
  return { members: [...inTurn(true), ...inTurn(false)], proposers: committee.length - resting.size }
}

/** Returns the members to draw, of members in the order of their scores. */
const sample = <Member extends Eligible>(scored: readonly Member[], size: number): readonly Member[] => {
  if (scored.length <= size) return scored
  const settled = scored.filter(({ isRecent }) => !isRecent)
  const onTrial = settled.filter(({ isHeard }) => !isHeard)
  const trials = new Set(onTrial.slice(0, trialsOf(size)))
  const first = settled.filter(member => member.isHeard || trials.has(member)).slice(0, size)
  const last = [...onTrial.filter(member => !trials.has(member)), ...scored.filter(({ isRecent }) => isRecent)]
  return [...first, ...last].slice(0, size)
}

const DOMAIN = new TextEncoder().encode('committee')

const scoreOf = (seed: Uint8Array, admission: number): Uint8Array =>
  keccak256(concatBytes(seed, DOMAIN, u64(admission)))
