import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import type { Committee } from '../../src/consensus/committee.ts'
import type { CommitteePort } from '../../src/consensus/ports.ts'
import { faultsOf, quorumOf } from '../../src/rules/council/quorum.ts'

/** Change of validators: every so many heights other ones in another order, at least so many of them. */
export interface CouncilPlan {
  readonly cycleBlocks: number
  readonly smallest: number
  /** In each cycle some members take no turns as proposers; a quorum does. */
  readonly resting: boolean
}

interface CouncilOptions {
  readonly seed: number
  readonly addresses: readonly Hex[]
  /** Byzantine nodes: never more in a committee than may be faulty. */
  readonly byzantine: ReadonlySet<number>
  /** null: all nodes at every height, in order. */
  readonly plan: CouncilPlan | null
}

/** Creates the committees of every height, known beforehand. The first cycle has all nodes. */
export const createCouncil = ({ seed, addresses, byzantine, plan }: CouncilOptions): CommitteePort => {
  const all: Committee = { members: addresses }
  if (plan === null) return { committee: () => all }
  const cycles: Committee[] = [all]
  const draw = (cycle: number): Committee => {
    const random = createRandom(seed * 7_919 + cycle)
    const chosen = choose(shuffled(addresses.length, random), byzantine, plan.smallest, random)
    const members = chosen.map(node => addresses[node] as Hex)
    if (!plan.resting) return { members }
    const quorum = quorumOf(members.length)
    return { members, proposers: quorum + random.below(members.length - quorum + 1) }
  }
  return {
    committee(number) {
      const cycle = Math.floor(Math.max(0, number - 1) / plan.cycleBlocks)
      cycles[cycle] ??= draw(cycle)
      return cycles[cycle]
    },
  }
}

const choose = (
  order: readonly number[],
  byzantine: ReadonlySet<number>,
  smallest: number,
  random: Random,
): readonly number[] => {
  const size = smallest + random.below(order.length - smallest + 1)
  const honest = order.filter(node => !byzantine.has(node)).slice(0, size)
  const bad = order.filter(node => byzantine.has(node))
  for (let count = Math.min(bad.length, size); count > 0; count--) {
    const members = Math.min(size, honest.length + count)
    if (faultsOf(members) < count) continue
    const chosen = new Set([...honest.slice(0, members - count), ...bad.slice(0, count)])
    return order.filter(node => chosen.has(node))
  }
  return honest
}

const shuffled = (size: number, random: Random): readonly number[] => {
  const nodes = Array.from({ length: size }, (_, node) => node)
  for (let at = size - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[nodes[at], nodes[other]] = [nodes[other] as number, nodes[at] as number]
  }
  return nodes
}
