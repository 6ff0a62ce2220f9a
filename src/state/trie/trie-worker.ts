import { serveWorker, Transferred, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { Store } from '../../storage/store.ts'
import type { TrieAnswer, TrieMethods } from './protocol.ts'
import { TrieExecutor } from './trie-executor.ts'
import { TrieRows } from './trie-rows.ts'

/* Thread of the trie: executes calls one by one, in order. An unexpected error ends the thread. */
const executor = new TrieExecutor(workerStartData<{ readonly layers: number }>().layers)
let store: Store | undefined

const transferred = (answer: TrieAnswer): TrieAnswer | Transferred<TrieAnswer> =>
  answer.error === undefined && answer.value instanceof Object && 'storageRoots' in answer.value
    ? new Transferred(answer, [answer.value.storageRoots])
    : answer

serveWorker<TrieMethods>(
  {
    async attach(handle, sizes) {
      store = await Store.attach(handle)
      executor.attach(new TrieRows(store), sizes)
    },
    execute(name, args) {
      const answer = executor.execute(name, args)
      return answer instanceof Promise ? answer.then(transferred) : transferred(answer)
    },
    close: () => store?.close(),
  },
  { faults: 'fatal' },
)
