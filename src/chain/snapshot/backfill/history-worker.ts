import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { Store, type StoreHandle } from '../../../storage/store.ts'
import { readEarliestBlock } from '../../store/earliest-block.ts'
import { type HistoryRange, type HistoryTip, tipBelow, writeHistory } from './history-rows.ts'

/* Worker thread that verifies and stores the blocks before a snapshot. */

const methodsOf = (store: Store) => ({
  tip: async () => (await tipBelow(store, await readEarliestBlock(store))) ?? null,
  put: (range: HistoryRange, tip: HistoryTip) => writeHistory(store, range, tip),
})
export type HistoryMethods = ReturnType<typeof methodsOf>

void Store.attach(workerStartData<StoreHandle>()).then(store => serveWorker<HistoryMethods>(methodsOf(store)))
