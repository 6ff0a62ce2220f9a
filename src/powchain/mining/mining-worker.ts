import { serveWorker } from '@tandem/base/worker/serve-worker.ts'
import { searchNonces } from './search.ts'

/* A thread of the built-in miner: looks for a nonce for a while, then tells how far it came. */
const methods = { search: searchNonces }
export type MiningMethods = typeof methods

serveWorker<MiningMethods>(methods)
