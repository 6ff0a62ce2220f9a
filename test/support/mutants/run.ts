import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Exploration, ExploreOptions } from '../../../src/sim/explore/explorer.ts'
import { MUTANTS, type MutantName } from './mutants.ts'

/** Explores in a thread of its own, the source as it is or mutated. */
export const exploreMutant = async (name: MutantName | null, options: ExploreOptions): Promise<Exploration> => {
  const patches = name === null ? [] : MUTANTS[name].patches
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { patches, options } })
  const [answer] = (await once(worker, 'message')) as [Exploration]
  return answer
}
