import { parentPort, workerData } from 'node:worker_threads'
import type { ExploreOptions } from '../../../src/sim/explore/explorer.ts'
import type { Patch } from './mutants.ts'
import { applyPatches } from './patch.ts'

/** The explorer over a mutated engine. */
const { patches, options } = workerData as { patches: readonly Patch[]; options: ExploreOptions }
applyPatches(patches)
const { explore } = await import('../../../src/sim/explore/explorer.ts')
parentPort?.postMessage(explore(options))
