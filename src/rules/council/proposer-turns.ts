import type { Hex } from '@tandem/base/bytes.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { faultsOf, quorumOf, trialsOf } from './quorum.ts'

/* Turns of proposers (docs/design/council.md#proposer), from headers alone. A member that misses them rests: it only serves and seals. */

/** Members of a committee; the first `proposers` of them take turns as proposers (all, where it is not given). */
export interface TurnOrder {
  readonly members: readonly Hex[]
  readonly proposers?: number
}

/** Returns the index of the proposer of (number, round): both rotate it, so each round has another proposer. */
export const proposerIndex = (
  { members, proposers = members.length }: TurnOrder,
  number: number,
  round: number,
): number => (number + round) % proposers

/** Decided block with its certificate and the committee to which the certificate's bitmap refers. */
export interface CertifiedBlock {
  readonly number: number
  /** Proposer named in the block's extraData. */
  readonly proposer: Hex
  readonly committee: TurnOrder
  readonly certificate: Certificate
}

interface TurnCounts {
  readonly taken: number
  readonly missed: number
}

/**
 * Counts the turns of one cycle. Each round up to that of the certificate was a turn: taken by the member that the block names and by the
 * proposer of the round that decided it, missed by the others. A height that more than f rounds could not decide counts nothing: f members
 * alone cannot cause that.
 */
export const countTurns = (blocks: Iterable<CertifiedBlock>): ReadonlyMap<Hex, TurnCounts> => {
  const turns = new Map<Hex, TurnCounts>()
  for (const { number, proposer, committee, certificate } of blocks) {
    if (certificate.round > faultsOf(committee.members.length)) continue
    for (let round = 0; round <= certificate.round; round++) {
      const member = committee.members[proposerIndex(committee, number, round)] as Hex
      const { taken, missed } = turns.get(member) ?? { taken: 0, missed: 0 }
      const isTaken = member === proposer || round === certificate.round
      turns.set(member, isTaken ? { taken: taken + 1, missed } : { taken, missed: missed + 1 })
    }
  }
  return turns
}

/** Record of a member that missed turns. A member that takes its turns has none. */
export interface Idleness {
  /** Number of cycles in which it missed a third of its turns or more, since the last in which it did not. */
  readonly strikes: number
  /** Last block of its rest. */
  readonly restsUntil: number
}

export type IdleMembers = ReadonlyMap<Hex, Idleness>

/**
 * Computes the records of idle members after a cycle's last block `number`. A cycle in which a member misses a third of its turns or more is a
 * strike; its rest begins with the cycle after the next and lasts 1, 2, 4 ... cycles. A cycle with fewer misses ends the record. Without turns
 * the record stays.
 */
export const nextIdleMembers = (
  council: readonly Hex[],
  before: IdleMembers,
  turns: ReadonlyMap<Hex, TurnCounts>,
  { number, cycleBlocks }: { readonly number: number; readonly cycleBlocks: number },
): IdleMembers => {
  const idle = new Map<Hex, Idleness>()
  for (const member of council) {
    const { taken, missed } = turns.get(member) ?? { taken: 0, missed: 0 }
    const idleness = before.get(member)
    if (taken + missed === 0) {
      if (idleness !== undefined) idle.set(member, idleness)
    } else if (3 * missed >= taken + missed) {
      const strikes = Math.min((idleness?.strikes ?? 0) + 1, COUNCIL_BOUNDS.strikes)
      idle.set(member, { strikes, restsUntil: number + cycleBlocks * (1 + 2 ** (strikes - 1)) })
    }
  }
  return idle
}

/** Member of a drawn committee. */
export interface Drawn {
  readonly validator: Hex
  readonly admission: number
  /** True when it sealed in the last cycle it served. */
  readonly isHeard: boolean
  readonly idleness: Idleness | undefined
}

/**
 * Returns the members of a committee that do not propose in the cycle that begins with block `first`: those not heard, and idle ones whose
 * rest lasts. Those whose rest is over return by `trialsOf`, the ones with the fewest strikes first. A quorum proposes in any case.
 */
export const restingMembers = (committee: readonly Drawn[], first: number): ReadonlySet<Hex> => {
  const strikesOf = ({ idleness }: Drawn) => idleness?.strikes ?? 0
  const lasts = ({ idleness }: Drawn) => (idleness?.restsUntil ?? 0) >= first
  const worstFirst = committee.toSorted((a, b) => strikesOf(b) - strikesOf(a) || b.admission - a.admission)
  const idle = worstFirst.filter(member => member.isHeard && strikesOf(member) > 0)
  const returning = idle.filter(member => !lasts(member))
  const resting = [
    ...worstFirst.filter(({ isHeard }) => !isHeard),
    ...idle.filter(lasts),
    ...returning.slice(0, Math.max(0, returning.length - trialsOf(committee.length))),
  ]
  const most = committee.length - quorumOf(committee.length)
  return new Set(resting.slice(0, most).map(({ validator }) => validator))
}
