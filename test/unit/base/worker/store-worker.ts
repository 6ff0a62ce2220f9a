import { setImmediate } from 'node:timers/promises'
import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { ClassicLevel } from 'classic-level'

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
