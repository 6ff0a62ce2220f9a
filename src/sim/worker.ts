import { parentPort, workerData } from 'node:worker_threads'
import type { DrawOptions } from './plan/draw-plan.ts'
import { runSeed } from './run-seed.ts'

/** Runs its seeds one after the other, and returns the report of each. */
const options = workerData as Omit<DrawOptions, 'seed'>
parentPort?.on('message', (seed: number) => {
  void runSeed({ ...options, seed }).then(report => parentPort?.postMessage(report))
})
