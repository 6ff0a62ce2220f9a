import type { Random } from '@tandem/base/random.ts'
import { SIMULATION_LIMITS } from '../../limits.ts'
import { MINING_SCRIPTS } from '../byzantine/scripts.ts'
import type { MiningPlan, Plan, PlannedFind } from './plan.ts'

/** Mean time between two headers of a run. */
const FASTEST_MS = 250
const SLOWEST_MS = 3_000
/** Share of headers that two miners find at once, that are kept back, and for how long. */
const SIBLINGS = 0.25
const WITHHELD = 0.25
const WITHHELD_MS = 8_000
/** The new hash from the first header on, after a few, or never. */
const FORK_HEIGHTS = [1, 2, 2, 3, 3, 4, 6, null]
/** Block times in which a header becomes overdue between two proposals; half of the runs keep theirs. */
const BLOCK_TIMES_MS = [2_000, 3_000, 5_000]
/** Share of the scripts about proof headers that a Byzantine node has at most. */
const MOST_SCRIPTS = 0.8

/** Draws miners of proof headers, and what Byzantine members do about these. */
export const drawMining = (plan: Plan, random: Random): Plan => {
  const share = random.next() * MOST_SCRIPTS
  const byzantine = plan.byzantine.map(({ node, scripts }) => {
    const mining = MINING_SCRIPTS.filter(() => random.chance(share))
    // With one script alone nothing else spoils its proposals.
    return { node, scripts: random.chance(0.5) ? [random.pick(MINING_SCRIPTS)] : [...scripts, ...mining] }
  })
  const blockTimeMs = random.chance(0.5) ? plan.blockTimeMs : random.pick(BLOCK_TIMES_MS)
  return { ...plan, blockTimeMs, byzantine, mining: drawFinds(plan, random) }
}

const drawFinds = ({ size, faultsMs, byzantine }: Plan, random: Random): MiningPlan => {
  const bad = new Set(byzantine.map(({ node }) => node))
  const honest = Array.from({ length: size }, (_, node) => node).filter(node => !bad.has(node))
  const meanMs = FASTEST_MS + random.next() ** 2 * SLOWEST_MS
  const forkHeight = random.pick(FORK_HEIGHTS)
  const finds: PlannedFind[] = []
  for (let atMs = 0; finds.length < SIMULATION_LIMITS.faults; ) {
    atMs += 1 - Math.log(1 - random.next()) * meanMs
    if (atMs >= faultsMs) break
    const first = random.pick(honest)
    const nodes = random.chance(SIBLINGS) ? [first, random.pick(honest)] : [first]
    const withheldMs = random.chance(WITHHELD) ? Math.round(random.next() * WITHHELD_MS) : 0
    finds.push({ atMs: Math.round(atMs), nodes, withheldMs })
  }
  return { forkHeight, finds }
}
