import { threadId } from 'node:worker_threads'
import { serveWorker } from '@tandem/base/worker/serve-worker.ts'
import type { FileReport, StateTestMethods } from '../../../../devtools/state-test/worker.ts'

/* Stands in for the worker of state tests: what it does with a file follows from the file's name. */

const channel = new BroadcastChannel('hanging')

const answer = (file: string): FileReport => ({
  file,
  lines: `${file} by ${threadId}\n`,
  passed: 1,
  failed: 0,
  skipped: 0,
})

const never = new Promise<FileReport>(() => {})

serveWorker<StateTestMethods>({
  run(file) {
    if (file.startsWith('leave')) process.exit(3)
    if (file.startsWith('throw')) {
      setImmediate(() => {
        throw new Error('out of something')
      })
      return never
    }
    if (file.startsWith('hang')) {
      // Signs of life, ten times as often as the test looks for them.
      setInterval(() => channel.postMessage(threadId), 5)
      return never
    }
    if (file.startsWith('slow')) return new Promise(resolve => setTimeout(() => resolve(answer(file)), 100))
    return answer(file)
  },
})
