import { asBuffer, bytesEqual } from '@tandem/base/bytes.ts'
import { firstWorking } from '../first-working.ts'
import { keccak256 } from '../hash.ts'
import type { SignatureProvider } from './signature-provider.ts'

/** In order of preference: native code, WebAssembly (a third of its speed), JavaScript (a twenty-fifth). */
const LADDER: readonly (() => Promise<SignatureProvider>)[] = [
  async () => (await import('./native.ts')).createNativeProvider(),
  async () => (await import('./libauth.ts')).createLibauthProvider(),
  async () => (await import('./noble.ts')).createNobleProvider(),
]

/** Returns the fastest provider that loads on this machine, and the errors of the faster ones, for the log at start. */
export const chooseSignatureProvider = (ladder = LADDER): ReturnType<typeof firstWorking<SignatureProvider>> =>
  firstWorking(ladder, checkProvider, 'no secp256k1 provider loads')

/** Self-test of a provider: private key 1 belongs to the generator, and a signature recovers its key. */
const checkProvider = (provider: SignatureProvider): void => {
  const one = new Uint8Array(32)
  one[31] = 1
  const digest = keccak256(one)
  const key = provider.publicKey(one)
  const signature = provider.sign(digest, one)
  const recovered = provider.recover(digest, signature.subarray(0, 64), signature[64]!)
  const right = asBuffer(key).toString('hex') === GENERATOR && recovered !== undefined && bytesEqual(recovered, key)
  if (!right) throw new Error(`${provider.name} computes wrong results`)
}

const GENERATOR =
  '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
  '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'
