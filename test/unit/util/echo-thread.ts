import { CodedError } from '../../../src/util/errors.ts'
import { serveWorker } from '../../../src/util/worker/worker-thread.ts'

/* A thread for tests. */
const methods = {
  later: (ms: number) => new Promise<number>(resolve => setTimeout(resolve, ms, ms)),
  refuse: (code: string) => {
    throw new CodedError({ code })
  },
  fail: () => {
    throw new Error('not foreseen')
  },
  die: () => process.exit(1),
}
export type EchoMethods = typeof methods

serveWorker(methods)
