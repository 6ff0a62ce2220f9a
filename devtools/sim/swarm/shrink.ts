import { faultsOf } from '../../../src/rules/council/quorum.ts'
import type { Rule } from '../check/violation.ts'
import { FAULTLESS } from '../plan/draw-plan.ts'
import type { Plan, PlannedFault, PlannedFind } from '../plan/plan.ts'

interface Shrunk {
  readonly plan: Plan
  /** Number of runs used. */
  readonly runs: number
}

/**
 * Shrinks a plan that still breaks the same invariant: fewer heights, nodes, byzantine members and faults, better network
 * conditions. Greedy: repeats every reduction until none works or `maxRuns` are used up.
 */
export const shrink = async (
  plan: Plan,
  rule: Rule,
  breaks: (plan: Plan) => Promise<Rule | null>,
  maxRuns: number,
): Promise<Shrunk> => {
  let smallest = plan
  let runs = 0
  const attempt = async (candidate: Plan): Promise<boolean> => {
    if (runs >= maxRuns) return false
    runs++
    if ((await breaks(candidate)) !== rule) return false
    smallest = candidate
    return true
  }
  for (let before: Plan | null = null; before !== smallest && runs < maxRuns; ) {
    before = smallest
    for (const simplify of SIMPLER) {
      const candidate = simplify(smallest)
      if (candidate !== null) await attempt(candidate)
    }
    await dropNodes(() => smallest, attempt)
    await dropFaults(() => smallest, attempt)
    await dropFinds(() => smallest, attempt)
    await dropScripts(() => smallest, attempt)
  }
  return { plan: smallest, runs }
}

type Attempt = (plan: Plan) => Promise<boolean>

/** Single reductions; null when there is nothing to reduce. */
const SIMPLER: readonly ((plan: Plan) => Plan | null)[] = [
  plan => (plan.heights > 1 ? fewerHeights(plan, Math.ceil(plan.heights / 2)) : null),
  plan => (plan.heights > 1 ? fewerHeights(plan, plan.heights - 1) : null),
  plan => (plan.council === null ? null : { ...plan, council: null }),
  plan => (plan.mining === null ? null : { ...plan, mining: null }),
  plan => (plan.blockSync ? { ...plan, blockSync: false } : null),
  plan => (plan.realKeys ? { ...plan, realKeys: false } : null),
  plan => (plan.linkConditions === FAULTLESS ? null : { ...plan, linkConditions: FAULTLESS }),
  plan => (plan.linkConditions.loss === 0 ? null : { ...plan, linkConditions: { ...plan.linkConditions, loss: 0 } }),
  plan =>
    plan.linkConditions.duplicate === 0 ? null : { ...plan, linkConditions: { ...plan.linkConditions, duplicate: 0 } },
  plan => (plan.linkConditions.stuck === 0 ? null : { ...plan, linkConditions: { ...plan.linkConditions, stuck: 0 } }),
  plan => (plan.byzantine.length === 0 ? null : { ...plan, byzantine: plan.byzantine.slice(1) }),
]

const fewerHeights = (plan: Plan, heights: number): Plan => {
  const faultsMs = Math.ceil((plan.faultsMs * heights) / plan.heights)
  const isBefore = ({ atMs }: { readonly atMs: number }): boolean => atMs < faultsMs
  const mining = plan.mining && { ...plan.mining, finds: plan.mining.finds.filter(isBefore) }
  return { ...plan, heights, faultsMs, faults: plan.faults.filter(isBefore), mining }
}

/** Later nodes are renumbered; null where the others could not tolerate their byzantine members. */
const withoutNode = (plan: Plan, gone: number): Plan | null => {
  const size = plan.size - 1
  const renamed = (node: number): number => (node > gone ? node - 1 : node)
  const byzantine = plan.byzantine.flatMap(member =>
    member.node === gone ? [] : [{ ...member, node: renamed(member.node) }],
  )
  if (size === 0 || byzantine.length > faultsOf(size)) return null
  const council = plan.council && { ...plan.council, smallest: Math.min(plan.council.smallest, size) }
  const faults = plan.faults.flatMap((plannedFault): readonly PlannedFault[] => {
    if (plannedFault.kind === 'partition')
      return [{ ...plannedFault, side: plannedFault.side.filter(node => node !== gone).map(renamed) }]
    return plannedFault.node === gone ? [] : [{ ...plannedFault, node: renamed(plannedFault.node) }]
  })
  const mining = plan.mining && {
    ...plan.mining,
    finds: plan.mining.finds.flatMap(find => withoutMiner(find, gone, renamed)),
  }
  return { ...plan, size, byzantine, council, faults, mining }
}

const withoutMiner = (find: PlannedFind, gone: number, renamed: (node: number) => number): readonly PlannedFind[] => {
  const nodes = find.nodes.filter(node => node !== gone).map(renamed)
  return nodes.length === 0 ? [] : [{ ...find, nodes }]
}

const dropNodes = async (smallest: () => Plan, attempt: Attempt): Promise<void> => {
  for (let node = smallest().size - 1; node >= 0; node--) {
    const candidate = withoutNode(smallest(), node)
    if (candidate !== null) await attempt(candidate)
  }
}

/** Tries to drop halves, quarters and so on down to single faults. */
const dropFaults = async (smallest: () => Plan, attempt: Attempt): Promise<void> => {
  for (let length = Math.ceil(smallest().faults.length / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let at = 0; at < smallest().faults.length; ) {
      const plan = smallest()
      const faults = plan.faults.toSpliced(at, length)
      if (!(await attempt({ ...plan, faults }))) at += length
    }
  }
}

/** The same for the headers that miners find. */
const dropFinds = async (smallest: () => Plan, attempt: Attempt): Promise<void> => {
  const count = () => smallest().mining?.finds.length ?? 0
  for (let length = Math.ceil(count() / 2); length >= 1; length = Math.floor(length / 2)) {
    for (let at = 0; at < count(); ) {
      const plan = smallest()
      const mining = plan.mining && { ...plan.mining, finds: plan.mining.finds.toSpliced(at, length) }
      if (!(await attempt({ ...plan, mining }))) at += length
    }
  }
}

const dropScripts = async (smallest: () => Plan, attempt: Attempt): Promise<void> => {
  for (const { node, scripts } of smallest().byzantine) {
    for (const script of scripts) {
      const plan = smallest()
      const byzantine = plan.byzantine.map(member =>
        member.node === node ? { ...member, scripts: member.scripts.filter(name => name !== script) } : member,
      )
      await attempt({ ...plan, byzantine })
    }
  }
}
