import { parentPort, workerData } from 'node:worker_threads'
import type { DrawOptions } from '../../../devtools/sim/plan/draw-plan.ts'
import type { Patch } from '../../support/patch.ts'
import { applyPatches } from '../../support/patch.ts'
import type { KillOptions } from '../council/kill.ts'
import type { ExploreOptions } from '../explore/explorer.ts'
import type { ScenarioName } from './scenarios.ts'

/** Work given to a mutated engine. */
export type Task =
  | { readonly kind: 'explore'; readonly options: ExploreOptions }
  | { readonly kind: 'simulate'; readonly options: DrawOptions }
  /** The same, and a failure made small. */
  | { readonly kind: 'shrink'; readonly options: DrawOptions }
  | { readonly kind: 'scenario'; readonly options: ScenarioName }
  | { readonly kind: 'council'; readonly options: KillOptions }

const { patches, task } = workerData as { patches: readonly Patch[]; task: Task }
applyPatches(patches)
const perform = async ({ kind, options }: Task): Promise<unknown> => {
  if (kind === 'explore') return (await import('../explore/explorer.ts')).explore(options)
  if (kind === 'shrink') return (await import('../../../devtools/sim/swarm/run-seed.ts')).runSeed(options)
  if (kind === 'scenario') return (await import('./scenarios.ts')).SCENARIOS[options]()
  if (kind === 'council') return (await import('../council/kill.ts')).firstKill(options)
  const { drawPlan } = await import('../../../devtools/sim/plan/draw-plan.ts')
  return (await import('../../../devtools/sim/simulation.ts')).runSimulation(drawPlan(options))
}
parentPort?.postMessage(await perform(task))
