import { Script } from 'node:vm'
import { isMainThread, Worker } from 'node:worker_threads'
import { underDefaultGrowth } from '@tandem/base/worker/nursery.ts'

/* Prints whether V8 refuses code that was compiled before a thread of this starting process had loaded its own. */

if (isMainThread) {
  const cachedData = new Script('1').createCachedData()
  // V8 tells sources apart by their length here; one that it has compiled it would not load.
  const load = () => new Script('2', { cachedData })
  const worker = new Worker(new URL(import.meta.url))
  worker.once('exit', () => process.stdout.write(String(load().cachedDataRejected)))
} else underDefaultGrowth(() => undefined)
