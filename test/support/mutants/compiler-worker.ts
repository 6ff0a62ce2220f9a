import { parentPort, workerData } from 'node:worker_threads'
import type { Patch } from './mutants.ts'
import { applyPatches } from './patch.ts'

const { patches, options } = workerData as { patches: readonly Patch[]; options: { seed: number; cases: number } }
applyPatches(patches)
const { compiledDifference } = await import('../evm/compiled-difference.ts')
parentPort?.postMessage(await compiledDifference(options))
