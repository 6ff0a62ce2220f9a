import { argon2, argon2Sync } from 'node:crypto'
import { ARGON2, type Argon2Provider } from './provider.ts'

/** OpenSSL's Argon2id through node:crypto, from Node 24.7 on. Throws where the runtime has none. */
export const createNodeArgon2 = (): Argon2Provider => {
  if (typeof argon2 !== 'function') throw new Error('node:crypto has no Argon2 in this runtime')
  return {
    name: 'node:crypto',
    threaded: true,
    hash: (message, nonce, { memoryKib, passes, lanes, hashBytes } = ARGON2) =>
      new Promise((resolve, reject) => {
        const cost = { parallelism: lanes, tagLength: hashBytes, memory: memoryKib, passes }
        argon2('argon2id', { message, nonce, ...cost }, (error, hash) => {
          if (error) reject(error)
          else resolve(hash)
        })
      }),
    hashSync(message, nonce) {
      const { lanes, hashBytes, memoryKib, passes } = ARGON2
      return argon2Sync('argon2id', {
        message,
        nonce,
        parallelism: lanes,
        tagLength: hashBytes,
        memory: memoryKib,
        passes,
      })
    },
  }
}
