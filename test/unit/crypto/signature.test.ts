import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test, vi } from 'vitest'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { createLibauthProvider } from '../../../src/crypto/libauth-signatures.ts'
import { createNativeProvider } from '../../../src/crypto/native-signatures.ts'
import {
  addressFromPrivateKey,
  chooseSignatureProvider,
  createNobleProvider,
  isLowS,
  isScalar,
  publicKeyToAddress,
  recoverAddress,
  sign,
  signatures,
} from '../../../src/crypto/signature.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => hexToBytes(toWord(value))
const text = (value: string) => new TextEncoder().encode(value)

/** The key and address of the EIP-155 example. */
const KEY = new Uint8Array(32).fill(0x46)
const ADDRESS = '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'

const native = () => [createNativeProvider()]
const providers = [
  ...(process.arch === 'x64' && process.platform === 'linux' ? native() : []),
  await createLibauthProvider(),
  createNobleProvider(),
]

describe.each(providers.map(p => [p.name, p] as const))('%s', (_, provider) => {
  test('the public key and address of a known private key', () => {
    expect(publicKeyToAddress(provider.publicKey(KEY))).toBe(ADDRESS)
    expect(provider.publicKey(word(1n))).toEqual(secp256k1.Point.BASE.toBytes(false).slice(1))
  })

  test('the signature of the EIP-155 example', () => {
    const digest = hexToBytes('0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53')
    const signature = provider.sign(digest, KEY)
    expect(bytesToHex(signature)).toBe(
      '0x28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276' +
        '67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d8300',
    )
    expect(provider.recover(digest, signature.subarray(0, 64), 0)).toEqual(provider.publicKey(KEY))
  })

  test('signs with low s and recovers its own keys', () => {
    for (let i = 1; i <= 40; i++) {
      const key = keccak256(Uint8Array.of(i))
      const digest = keccak256(key)
      const signature = provider.sign(digest, key)
      expect(signature.byteLength).toBe(65)
      expect(isLowS(signature.subarray(32, 64))).toBe(true)
      expect(provider.recover(digest, signature.subarray(0, 64), signature[64]!)).toEqual(provider.publicKey(key))
    }
  })

  test('recovers from high s, which only transactions refuse', () => {
    const digest = keccak256(text('high'))
    const signature = provider.sign(digest, KEY)
    const s = ORDER - BigInt(bytesToHex(signature.subarray(32, 64)))
    const high = Buffer.concat([signature.subarray(0, 32), word(s)])
    expect(isLowS(high.subarray(32))).toBe(false)
    expect(provider.recover(digest, high, 1 - signature[64]!)).toEqual(provider.publicKey(KEY))
  })

  test('answers undefined for an r no point has', () => {
    const digest = keccak256(text('none'))
    const signature = Buffer.concat([word(5n), word(1n)]) // x = 5 is not on the curve
    expect(provider.recover(digest, signature, 0)).toBeUndefined()
  })

  test('the digest zero, and keys at the ends of the range', () => {
    for (const key of [word(1n), word(ORDER - 1n)]) {
      const signature = provider.sign(word(0n), key)
      expect(provider.recover(word(0n), signature.subarray(0, 64), signature[64]!)).toEqual(provider.publicKey(key))
    }
  })

  test('refuses keys out of range', () => {
    for (const key of [word(0n), word(ORDER), word(2n ** 256n - 1n)]) {
      expect(() => provider.publicKey(key)).toThrow()
      expect(() => provider.sign(keccak256(key), key)).toThrow()
    }
  })
})

test('all providers sign alike', () => {
  for (let i = 0; i < 30; i++) {
    const digest = keccak256(Uint8Array.of(i, 7))
    const key = keccak256(Uint8Array.of(i, 8))
    const made = new Set(providers.map(p => bytesToHex(p.sign(digest, key))))
    expect(made.size).toBe(1)
  }
})

test('the native provider is chosen where its addon loads, and no other is loaded', async () => {
  const chosen = chooseSignatureProvider()
  await chosen.settled
  expect(chosen.provider.name).toBe(providers[0]!.name)
  expect(signatures().name).toBe(chosen.provider.name)
  expect(chosen.refused).toHaveLength(3 - providers.length)
})

test('without it JavaScript signs at once, and WebAssembly as soon as it is compiled', async () => {
  const missing = (): never => {
    throw new Error('no addon for this platform')
  }
  const chosen = chooseSignatureProvider(missing, createLibauthProvider)
  expect(chosen.provider.name).toBe('noble-js')
  await chosen.settled
  expect(chosen.provider.name).toBe('libauth-wasm')
  expect(chosen.refused.map(error => error.message)).toEqual(['no addon for this platform'])
})

test('a thread whose addon does not load starts with JavaScript', async () => {
  vi.resetModules()
  vi.doMock('../../../src/crypto/native-signatures.ts', () => ({
    createNativeProvider: () => {
      throw new Error('no addon')
    },
  }))
  const thread = await import('../../../src/crypto/signature.ts')
  vi.doUnmock('../../../src/crypto/native-signatures.ts')
  expect(thread.unavailableProviders.map(({ message }) => message)).toEqual(['no addon'])
  expect(thread.addressFromPrivateKey(KEY)).toBe(ADDRESS)
})

test('a provider that computes wrongly is refused', async () => {
  const wrong = () => ({ ...createNobleProvider(), recover: () => new Uint8Array(64) })
  const chosen = chooseSignatureProvider(wrong, async () => ({ ...wrong(), name: 'libauth-wasm' as const }))
  await chosen.settled
  expect(chosen.provider.name).toBe('noble-js')
  expect(chosen.refused.map(error => error.message)).toEqual([
    'noble-js computes wrong results',
    'libauth-wasm computes wrong results',
  ])
})

test('recoverAddress checks what it is given', () => {
  const digest = keccak256(text('message'))
  const signature = sign(digest, KEY)
  expect(addressFromPrivateKey(KEY)).toBe(ADDRESS)
  expect(recoverAddress(digest, signature)).toBe(ADDRESS)
  expect(recoverAddress(digest, signature.subarray(0, 64))).toBeUndefined()
  const changed = (change: (bytes: Uint8Array) => void) => {
    const bytes = Uint8Array.from(signature)
    change(bytes)
    return recoverAddress(digest, bytes)
  }
  expect(changed(b => (b[64] = 27))).toBeUndefined()
  expect(changed(b => b.fill(0, 0, 32))).toBeUndefined()
  expect(changed(b => b.fill(0, 32, 64))).toBeUndefined()
  expect(changed(b => b.set(word(ORDER), 0))).toBeUndefined()
  expect(changed(b => b.set(word(ORDER), 32))).toBeUndefined()
})

test('scalars and low s at their borders', () => {
  expect([0n, 1n, ORDER - 1n, ORDER, 2n ** 256n - 1n].map(n => isScalar(word(n)))).toEqual([
    false,
    true,
    true,
    false,
    false,
  ])
  expect([1n, ORDER / 2n, ORDER / 2n + 1n].map(n => isLowS(word(n)))).toEqual([true, true, false])
})
