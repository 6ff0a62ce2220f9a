import { bytesToHex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { ARGON2_PROVIDERS, chooseArgon2 } from '../../../src/crypto/argon2.ts'

/** Tests of the reference implementation (phc-winner-argon2), version 0x13, "password" and "somesalt". */
const KNOWN = [
  [{ passes: 2, memoryKib: 256, lanes: 1 }, '0x9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe'],
  [{ passes: 2, memoryKib: 256, lanes: 2 }, '0x6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037'],
  [{ passes: 1, memoryKib: 65_536, lanes: 1 }, '0xf6a5adc1ba723dddef9b5ac1d464e180fcd9dffc9d1cbf76cca2fed795d9ca98'],
] as const

/** Proof of work of a CryptoNote chain over its test block: salt is the head of the input. */
const BLOB = Buffer.from(
  '0100fb8e8ac805899323371bb790db19218afd8db8e3755d8b90f39b3d5506a9abce4fa912244500000000ee8146d49fa93ee724deb57d12cbc6c6f3b924d946127c7a97418f9348828f0f02',
  'hex',
)
const CHUKWA = [
  [{ passes: 4, memoryKib: 1_024, lanes: 1 }, '0x3578c135261366a7bac407b8c0ff50f3ad96f096ec2813e9644e6e77a43f803d'],
  [{ passes: 3, memoryKib: 512, lanes: 1 }, '0xc0dad0eeb9c52e92a1c3aa5b76a3cb90bd7376c28dce191ceeb1096e3a390d2e'],
] as const

describe.each(await Promise.all(ARGON2_PROVIDERS.map(load => load())))('Argon2id by $name', provider => {
  test.each(KNOWN)('published answer %#', async (cost, expected) => {
    const hash = await provider.hash(Buffer.from('password'), Buffer.from('somesalt'), { ...cost, hashBytes: 32 })
    expect(bytesToHex(hash)).toBe(expected)
  })

  test.each(CHUKWA)('CryptoNote answer %#', async (cost, expected) => {
    expect(bytesToHex(await provider.hash(BLOB, BLOB.subarray(0, 16), { ...cost, hashBytes: 32 }))).toBe(expected)
  })
})

describe('choice of a provider', () => {
  test('passes over one that computes wrong hashes and one that does not load, and says why', async () => {
    const zeros = new Uint8Array(32)
    const wrong = { name: '@node-rs/argon2' as const, hash: async () => zeros, hashSync: () => zeros }
    const missing = () => Promise.reject(new Error('not installed'))
    const { provider, refused } = await chooseArgon2([async () => wrong, missing, ...ARGON2_PROVIDERS.slice(1)])
    expect(provider.name).toBe('node:crypto')
    expect(refused.map(({ message }) => message)).toEqual([
      '@node-rs/argon2 computes wrong Argon2id hashes',
      'not installed',
    ])
  })

  test('without any that works the error says what to do', async () => {
    await expect(chooseArgon2([])).rejects.toThrow('reinstall the packages (npm ci)')
  })
})
