import { createRequire } from 'node:module'
import { assert } from '@tandem/base/assert.ts'
import { asBuffer, bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import { keccak256, keccak256Hex } from './hash.ts'
import { createNativeProvider, type SignatureProvider } from './native-signatures.ts'

/** Provider of a thread, which may become a faster one. */
interface ChosenProvider {
  provider: SignatureProvider
  /** Errors of faster providers. */
  readonly refused: Error[]
  /** Settles when no faster provider will load. */
  readonly settled: Promise<void>
}

const loadLibauth = async (): Promise<SignatureProvider> =>
  (await import('./libauth-signatures.ts')).createLibauthProvider()

/** Chooses native code, there at once; else WebAssembly (a third of its speed), until compiled JavaScript (a twenty-fifth). */
export const chooseSignatureProvider = (
  createNative = createNativeProvider,
  createWebAssembly = loadLibauth,
): ChosenProvider => {
  const refused: Error[] = []
  const refuse = (error: unknown): void => void refused.push(error instanceof Error ? error : new Error(String(error)))
  const checked = (provider: SignatureProvider): SignatureProvider => {
    checkProvider(provider)
    return provider
  }
  try {
    return { provider: checked(createNative()), refused, settled: Promise.resolve() }
  } catch (error) {
    refuse(error)
  }
  const upgrade = createWebAssembly().then(provider => {
    chosen.provider = checked(provider)
  })
  const chosen = { provider: checked(createNobleProvider()), refused, settled: upgrade.catch(refuse) }
  return chosen
}

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

type NobleModule = typeof import('@noble/curves/secp256k1.js')

/** Pure JavaScript: at once on every platform, while WebAssembly compiles; loaded only there. */
export const createNobleProvider = (): SignatureProvider => {
  const { secp256k1 } = createRequire(import.meta.url)('@noble/curves/secp256k1.js') as NobleModule
  return {
    name: 'noble-js',
    recover(digest, signature, recoveryId) {
      try {
        const point = secp256k1.Signature.fromBytes(signature, 'compact')
          .addRecoveryBit(recoveryId)
          .recoverPublicKey(digest)
        return point.toBytes(false).slice(1)
      } catch {
        return undefined // no curve point has this r, or the key is the point at infinity
      }
    },
    sign(digest, privateKey) {
      const signed = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' })
      const out = new Uint8Array(65)
      out.set(signed.subarray(1))
      out[64] = signed[0]!
      return out
    },
    publicKey: privateKey => secp256k1.getPublicKey(privateKey, false).slice(1),
  }
}

const thread = chooseSignatureProvider()

/** Provider of this thread. */
export const signatures = (): SignatureProvider => thread.provider
export const unavailableProviders: readonly Error[] = thread.refused

const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')
const ZERO = Buffer.alloc(32)

/** Returns true when a 32-byte r or s is in 1 .. n - 1. */
export const isScalar = (word: Uint8Array): boolean =>
  Buffer.compare(word, ORDER) < 0 && Buffer.compare(word, ZERO) !== 0

/** Rule of EIP-2: a 32-byte s is at most n / 2. */
export const isLowS = (s: Uint8Array): boolean => Buffer.compare(s, HALF_ORDER) <= 0

/** Address of a 64-byte public key: the last 20 bytes of its keccak256. */
export const publicKeyToAddress = (publicKey: Uint8Array): Hex => {
  assert(publicKey.byteLength === 64, 'a public key has 64 bytes')
  return `0x${keccak256Hex(publicKey).slice(26)}`
}

/** Returns the signer of a digest; undefined for an invalid signature (r || s || v, v 0 or 1). High s is accepted: see isLowS. */
export const recoverAddress = (digest: Uint8Array, signature: Uint8Array): Hex | undefined => {
  assert(digest.byteLength === 32, 'a digest has 32 bytes')
  if (signature.byteLength !== 65) return undefined
  const publicKey = recoverPublicKey(digest, signature.subarray(0, 64), signature[64]!)
  return publicKey === undefined ? undefined : publicKeyToAddress(publicKey)
}

/** Runs the checks every provider relies on, then its recovery. */
export const recoverPublicKey = (
  digest: Uint8Array,
  signature: Uint8Array,
  recoveryId: number,
): Uint8Array | undefined => {
  if (recoveryId !== 0 && recoveryId !== 1) return undefined
  if (!isScalar(signature.subarray(0, 32)) || !isScalar(signature.subarray(32, 64))) return undefined
  return signatures().recover(digest, signature, recoveryId)
}

export const addressFromPrivateKey = (privateKey: Uint8Array): Hex =>
  publicKeyToAddress(signatures().publicKey(privateKey))

/** Signs a 32-byte digest: 65 bytes r || s || v. */
export const sign = (digest: Uint8Array, privateKey: Uint8Array): Uint8Array => {
  assert(digest.byteLength === 32, 'a digest has 32 bytes')
  return signatures().sign(digest, privateKey)
}
