import { hashRaw, hashRawSync } from '@node-rs/argon2'
import { ARGON2, type Argon2Cost, type Argon2Provider } from './provider.ts'

/** Number of Argon2id in the addon's enumeration, which cannot be imported under `isolatedModules`. */
const ARGON2ID = 2
/** Number of version 0x13 in the addon's enumeration. */
const VERSION_0X13 = 1

/** Optional native addon: half the time of OpenSSL's. */
export const createNativeArgon2 = (): Argon2Provider => ({
  name: '@node-rs/argon2',
  threaded: true,
  hash: (message, salt, cost = ARGON2) => hashRaw(message, optionsOf(salt, cost)),
  hashSync: (message, salt) => hashRawSync(message, optionsOf(salt, ARGON2)),
})

const optionsOf = (salt: Uint8Array, { memoryKib, passes, lanes, hashBytes }: Argon2Cost) => ({
  salt,
  memoryCost: memoryKib,
  timeCost: passes,
  parallelism: lanes,
  outputLen: hashBytes,
  algorithm: ARGON2ID,
  version: VERSION_0X13,
})
