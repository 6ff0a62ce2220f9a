import { parentPort } from 'node:worker_threads'
import { assert } from '../util/assert.ts'
import { type RecoveryAnswer, type RecoveryRequest, recoverRequest } from './recovery-batch.ts'

/* One thread of the recovery pool. It imports nothing but hashes and signatures: every worker costs this much memory again. */
assert(parentPort !== null, 'recovery-worker runs as a worker thread')
const port = parentPort

port.on('message', ({ id, buffer }: RecoveryRequest) => {
  const answer: RecoveryAnswer = { id, buffer: recoverRequest(buffer) }
  port.postMessage(answer, [answer.buffer])
})
