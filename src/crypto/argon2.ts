import { argon2, argon2Sync } from 'node:crypto'
import { createRequire } from 'node:module'
import { asBuffer } from '@tandem/base/bytes.ts'
import { firstWorking } from './first-working.ts'

/** Cost of one Argon2id hash of the proof chain: 4 MiB, one pass, one lane (docs/design/proof-chain.md). */
const ARGON2 = { memoryKib: 4096, passes: 1, lanes: 1, hashBytes: 32 } as const

/** Cost parameters of a known answer that differ from those of the proof chain. */
interface Argon2Cost {
  readonly memoryKib: number
  readonly passes: number
  readonly lanes: number
  readonly hashBytes: number
}

/** Argon2id version 0x13 (RFC 9106). */
export interface Argon2Provider {
  readonly name: 'node:crypto' | '@node-rs/argon2'
  /** Computes a hash in a separate thread, so the calling one stays free. */
  hash(message: Uint8Array, salt: Uint8Array, cost?: Argon2Cost): Promise<Uint8Array>
  /** The hash at the cost of the proof chain, computed on the calling thread. */
  hashSync(message: Uint8Array, salt: Uint8Array): Uint8Array
}

/** Number of Argon2id in the addon's enumeration, which cannot be imported under `isolatedModules`. */
const ARGON2ID = 2
/** Number of version 0x13 in the addon's enumeration. */
const VERSION_0X13 = 1

const addonOptions = (salt: Uint8Array, { memoryKib, passes, lanes, hashBytes }: Argon2Cost) => ({
  salt,
  memoryCost: memoryKib,
  timeCost: passes,
  parallelism: lanes,
  outputLen: hashBytes,
  algorithm: ARGON2ID,
  version: VERSION_0X13,
})

/** Optional native addon: half the time of OpenSSL's. Rejects where it is not installed. */
const createNativeArgon2 = async (): Promise<Argon2Provider> => {
  const { hashRaw, hashRawSync } = createRequire(import.meta.url)('@node-rs/argon2') as typeof import('@node-rs/argon2')
  return {
    name: '@node-rs/argon2',
    hash: (message, salt, cost = ARGON2) => hashRaw(message, addonOptions(salt, cost)),
    hashSync: (message, salt) => hashRawSync(message, addonOptions(salt, ARGON2)),
  }
}

const nodeOptions = (message: Uint8Array, nonce: Uint8Array, { memoryKib, passes, lanes, hashBytes }: Argon2Cost) => ({
  message,
  nonce,
  parallelism: lanes,
  tagLength: hashBytes,
  memory: memoryKib,
  passes,
})

/** OpenSSL's Argon2id. */
const nodeArgon2: Argon2Provider = {
  name: 'node:crypto',
  hash: (message, salt, cost = ARGON2) =>
    new Promise((resolve, reject) => {
      argon2('argon2id', nodeOptions(message, salt, cost), (error, hash) => {
        if (error) reject(error)
        else resolve(hash)
      })
    }),
  hashSync: (message, salt) => argon2Sync('argon2id', nodeOptions(message, salt, ARGON2)),
}

/** Providers by preference. */
export const ARGON2_PROVIDERS: readonly (() => Promise<Argon2Provider>)[] = [createNativeArgon2, async () => nodeArgon2]

/** Known answer of the reference implementation's tests: "password", "somesalt", t 2, m 256 KiB, p 1. */
const KNOWN = '9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe'

const checkProvider = async (provider: Argon2Provider): Promise<void> => {
  const cost = { memoryKib: 256, passes: 2, lanes: 1, hashBytes: 32 }
  const hash = await provider.hash(Buffer.from('password'), Buffer.from('somesalt'), cost)
  if (asBuffer(hash).toString('hex') !== KNOWN) throw new Error(`${provider.name} computes wrong Argon2id hashes`)
}

/** Returns the first provider that loads and passes its self-test, with the errors of those before it, for the log. */
export const chooseArgon2 = (providers = ARGON2_PROVIDERS): ReturnType<typeof firstWorking<Argon2Provider>> =>
  firstWorking(providers, checkProvider, 'no Argon2id provider works on this machine: reinstall the packages (npm ci)')

let chosen: Promise<Argon2Provider> | undefined

/** Provider of this thread, chosen at its first use. */
export const argon2Provider = (): Promise<Argon2Provider> => {
  chosen ??= chooseArgon2().then(({ provider }) => provider)
  return chosen
}
