import { parentPort, workerData } from 'node:worker_threads'
import type { DrawOptions } from './plan/draw-plan.ts'
import { runSeed } from './run-seed.ts'

/** Runs the seeds it is given, one after the other, and answers each with its report. */
const options = workerData as Omit<DrawOptions, 'seed'>
parentPort?.on('message', (seed: number) => {
  void runSeed({ ...options, seed }).then(report => parentPort?.postMessage(report))
})
