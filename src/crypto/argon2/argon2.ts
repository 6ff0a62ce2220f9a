import { asBuffer } from '@tandem/base/bytes.ts'
import { firstWorking } from '../first-working.ts'
import type { Argon2Provider } from './provider.ts'

type Load = () => Promise<Argon2Provider>

/** Providers by preference: the optional native addon, the runtime's own, WebAssembly, JavaScript. */
export const ARGON2_PROVIDERS: readonly Load[] = [
  async () => (await import('./native.ts')).createNativeArgon2(),
  async () => (await import('./node.ts')).createNodeArgon2(),
  async () => (await import('./wasm.ts')).createWasmArgon2(),
  async () => (await import('./noble.ts')).createNobleArgon2(),
]

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
