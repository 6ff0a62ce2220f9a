import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { DrawOptions } from '../../../devtools/sim/plan/draw-plan.ts'
import type { SimulationOutcome } from '../../../devtools/sim/swarm/run-outcome.ts'
import type { SeedReport } from '../../../devtools/sim/swarm/run-seed.ts'
import type { Exploration, ExploreOptions } from '../explore/explorer.ts'
import { MUTANTS, type MutantName } from './mutants.ts'
import type { ScenarioName } from './scenarios.ts'
import type { Task } from './worker.ts'

/** In a thread of its own, the source as it is or mutated. */
const perform = async (name: MutantName | null, task: Task): Promise<unknown> => {
  const patches = name === null ? [] : MUTANTS[name].patches
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { patches, task } })
  const [answer] = await once(worker, 'message')
  return answer
}

export const exploreMutant = async (name: MutantName | null, options: ExploreOptions): Promise<Exploration> =>
  (await perform(name, { kind: 'explore', options })) as Exploration

export const simulateMutant = async (name: MutantName, options: DrawOptions): Promise<SimulationOutcome> =>
  (await perform(name, { kind: 'simulate', options })) as SimulationOutcome

/** One seed, and the smallest run that breaks the same rule. */
export const shrinkMutant = async (name: MutantName, options: DrawOptions): Promise<SeedReport> =>
  (await perform(name, { kind: 'shrink', options })) as SeedReport

/** Fault that a scenario shows; null: none. */
export const playMutant = async (name: MutantName, options: ScenarioName): Promise<string | null> =>
  (await perform(name, { kind: 'scenario', options })) as string | null
