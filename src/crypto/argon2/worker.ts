import { serveWorker, workerStartData } from '@tandem/base/worker/serve-worker.ts'
import { createNobleArgon2 } from './noble.ts'
import type { Argon2Cost, Argon2Provider } from './provider.ts'
import { createWasmArgon2 } from './wasm.ts'

/* Thread that computes the hashes of a provider without threads of its own. */
const name = workerStartData<Argon2Provider['name']>()
const provider = name === 'hash-wasm' ? createWasmArgon2() : createNobleArgon2()

const methods = {
  hash: (message: Uint8Array, salt: Uint8Array, cost?: Argon2Cost) => provider.hash(message, salt, cost),
}
export type Argon2Methods = typeof methods

serveWorker<Argon2Methods>(methods)
