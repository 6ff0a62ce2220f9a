import { serveWorker, Transferred, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { TrieLayers } from './layers.ts'
import { executeTrieCall, type TrieMethods } from './protocol.ts'

/* Thread of the trie: executes calls one by one, in order. An unexpected error ends the thread. */
const layers = new TrieLayers(workerStartData<{ readonly layers: number }>().layers)

serveWorker<TrieMethods>(
  {
    execute(call) {
      const answer = executeTrieCall(layers, call)
      if (answer.error !== undefined || answer.value.op !== 'apply') return answer
      return new Transferred(answer, [answer.value.storageRoots])
    },
  },
  { faults: 'fatal' },
)
