import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import type { DrawOptions } from '../plan/draw-plan.ts'
import { runSeed } from './run-seed.ts'

/* Worker thread that runs simulations. */
const options = workerStartData<Omit<DrawOptions, 'seed'>>()

const methods = { run: (seed: number) => runSeed({ ...options, seed }) }
export type SimulationMethods = typeof methods

serveWorker<SimulationMethods>(methods)
