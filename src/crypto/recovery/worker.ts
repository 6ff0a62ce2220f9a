import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { assert } from '../../util/assert.ts'
import { type RecoveryAnswer, type RecoveryRequest, type RecoveryWorkerData, recoverRequest } from './batch.ts'

/* Thread of the recovery pool. It imports only hashes and signatures, since every worker has its own copy in memory. */
assert(parentPort !== null, 'recovery-worker runs as a worker thread')
const port = parentPort

const { urgent } = workerData as RecoveryWorkerData

const recover = ({ id, buffer }: RecoveryRequest): void => {
  const answer: RecoveryAnswer = { id, buffer: recoverRequest(buffer) }
  port.postMessage(answer, [answer.buffer])
}

urgent.on('message', recover)
port.on('message', (request: RecoveryRequest) => {
  for (let next = receiveMessageOnPort(urgent); next; next = receiveMessageOnPort(urgent)) recover(next.message)
  recover(request)
})
