import { argon2id } from 'hash-wasm'
import { ARGON2, type Argon2Provider } from './provider.ts'

/** WebAssembly on the calling thread. */
export const createWasmArgon2 = (): Argon2Provider => ({
  name: 'hash-wasm',
  threaded: false,
  hash: (password, salt, { memoryKib, passes, lanes, hashBytes } = ARGON2) =>
    argon2id({
      password,
      salt,
      memorySize: memoryKib,
      iterations: passes,
      parallelism: lanes,
      hashLength: hashBytes,
      outputType: 'binary',
    }),
})
