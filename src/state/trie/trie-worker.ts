import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../util/assert.ts'
import { TrieLayers } from './layers.ts'
import { executeTrieCall, type TrieCall } from './protocol.ts'

/* Thread of the trie: executes calls one by one, in order. An unexpected error ends the thread. */
assert(parentPort !== null, 'the trie worker runs as a worker thread')
const port = parentPort
const layers = new TrieLayers((workerData as { readonly layers: number }).layers)

port.on('message', (call: TrieCall) => {
  const answer = executeTrieCall(layers, call)
  const roots = answer.error === undefined && answer.value.op === 'apply' ? [answer.value.storageRoots] : []
  port.postMessage(answer, roots)
})
