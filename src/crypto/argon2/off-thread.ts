import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { argon2Provider } from './argon2.ts'
import type { Argon2Provider } from './provider.ts'
import type { Argon2Methods } from './worker.ts'

/** Returns a provider whose hashes never run on the calling thread: itself, or its like in a worker that starts with the first hash. */
export const offThread = (provider: Argon2Provider): Argon2Provider => {
  if (provider.threaded) return provider
  const { name } = provider
  let thread: WorkerClient<Argon2Methods> | undefined
  return {
    name,
    threaded: true,
    hash(message, salt, cost) {
      // A thread that ended is replaced.
      if (thread?.isOpen !== true)
        thread = new WorkerClient<Argon2Methods>({
          name: 'argon2',
          url: new URL('./worker.ts', import.meta.url),
          data: name,
        })
      return thread.call('hash', message, salt, cost)
    },
  }
}

let shared: Promise<Argon2Provider> | undefined

/** Provider for verification beside other work of the thread. */
export const argon2OffThread = (): Promise<Argon2Provider> => {
  shared ??= argon2Provider().then(offThread)
  return shared
}
