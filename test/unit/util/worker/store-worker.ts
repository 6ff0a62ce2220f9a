import { setImmediate } from 'node:timers/promises'
import { ClassicLevel } from 'classic-level'
import { serveWorker, workerStartData } from '../../../../src/util/worker/serve-worker.ts'

/* Worker that does nothing but open iterators, and close them. */
const level = new ClassicLevel(workerStartData<string>(), { multithreading: true })
await level.open()

export type StoreMethods = {
  readonly scan: () => Promise<never>
  readonly ready: () => null
}

serveWorker<StoreMethods>(
  {
    async scan() {
      for (;;) {
        await Promise.all(Array.from({ length: 100 }, () => level.keys().close()))
        await setImmediate()
      }
    },
    ready: () => null,
  },
  { order: 'parallel' },
)
