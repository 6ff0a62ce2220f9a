import { argon2id } from '@noble/hashes/argon2.js'
import { ARGON2, type Argon2Provider } from './provider.ts'

/** JavaScript on the calling thread; works on every platform. */
export const createNobleArgon2 = (): Argon2Provider => ({
  name: 'noble-js',
  threaded: false,
  hash: async (password, salt, { memoryKib, passes, lanes, hashBytes } = ARGON2) =>
    argon2id(password, salt, { t: passes, m: memoryKib, p: lanes, dkLen: hashBytes }),
})
