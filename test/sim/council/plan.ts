import { createRandom, type Random } from '@tandem/base/random.ts'

/** Node of a council member over time; cycles. */
export interface PlannedMember {
  /** Cycle of its admission; -1: a member of genesis. */
  readonly admitted: number
  /** Cycle in which its node starts. */
  readonly starts: number
  /** Cycle in which its node stops for good. */
  readonly dies: number
  /** Cycle in which it leaves the council; its node goes on until no committee names it. */
  readonly leaves: number
  /** Cycles in which it seals without proposing, from the first to before the second. */
  readonly idle: readonly [number, number]
}

export interface CouncilSimPlan {
  readonly seed: number
  readonly cycles: number
  readonly committeeSize: number
  readonly members: readonly PlannedMember[]
}

export const COUNCIL_PROFILES = ['newcomers', 'outages', 'leavers', 'idle', 'mixed'] as const
export type CouncilProfile = (typeof COUNCIL_PROFILES)[number]

export interface CouncilSimOptions {
  readonly seed: number
  readonly profile: CouncilProfile
  readonly cycles: number
}

const NEVER = Number.POSITIVE_INFINITY
const STEADY: PlannedMember = { admitted: -1, starts: -1, dies: NEVER, leaves: NEVER, idle: [0, 0] }

/** Councils that serve whole, and councils of 40 to 256 that are sampled. */
const drawSize = (random: Random): number => (random.chance(0.4) ? 4 + random.below(28) : 40 + random.below(217))

/**
 * Draws members and their faults. Every plan leaves a chain that has to go on: of the members that have sealed, few enough fail at a time for
 * the others to notice.
 */
export const drawCouncilPlan = ({ seed, profile, cycles }: CouncilSimOptions): CouncilSimPlan => {
  const random = createRandom(seed * 7_001)
  const size = drawSize(random)
  const has = (name: CouncilProfile) => profile === name || (profile === 'mixed' && size >= 40)
  let members: PlannedMember[] = Array.from({ length: size }, () => STEADY)
  if (has('idle')) members = drawIdle(members, cycles, random)
  if (has('outages')) members = drawOutages(members, cycles, random)
  if (has('leavers')) members = drawLeavers(members, cycles, random)
  if (has('newcomers')) members = [...members, ...drawNewcomers(Math.min(size, 256 - size), cycles, random)]
  return { seed, cycles, committeeSize: 31, members }
}

/** Up to a third of 31 in all committees, for good or for a while. */
const drawIdle = (members: readonly PlannedMember[], cycles: number, random: Random): PlannedMember[] => {
  const count = 1 + random.below(Math.max(1, Math.floor((members.length - 1) / 3)))
  return members.map((member, at) => {
    if (at >= count) return member
    const from = random.below(Math.ceil(cycles / 8))
    return { ...member, idle: [from, random.chance(0.5) ? NEVER : from + Math.ceil(cycles / 8)] }
  })
}

/** One after the other, with time to be noticed. */
const drawOutages = (members: readonly PlannedMember[], cycles: number, random: Random): PlannedMember[] => {
  const count = random.below(Math.floor((members.length - 1) / 4) + 1)
  const gap = 30 + random.below(30)
  return members.map((member, at) => {
    const from = members.length - 1 - at
    return from < count && from * gap < cycles ? { ...member, dies: 5 + from * gap } : member
  })
}

const drawLeavers = (members: readonly PlannedMember[], cycles: number, random: Random): PlannedMember[] => {
  const share = random.next() * 0.3
  return members.map(member =>
    member.dies === NEVER && random.chance(share) ? { ...member, leaves: random.below(cycles) } : member,
  )
}

/** Bursts of admissions: nodes that never start, that start late, and that are there. */
const drawNewcomers = (most: number, cycles: number, random: Random): readonly PlannedMember[] => {
  const newcomers: PlannedMember[] = []
  const count = random.below(most + 1)
  while (newcomers.length < count) {
    const burst = Math.min(count - newcomers.length, 1 + random.below(20))
    const admitted = random.below(Math.ceil(cycles / 4))
    const absent = random.next()
    for (let at = 0; at < burst; at++) {
      const late = random.chance(0.5) ? NEVER : admitted + random.below(40)
      newcomers.push({ ...STEADY, admitted, starts: random.chance(absent) ? late : admitted })
    }
  }
  return newcomers
}
