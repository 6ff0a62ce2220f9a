import { bytesToHex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { decryptKey, encryptKey, keystoreAddress } from '../../../../src/crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../../../src/crypto/signature.ts'

/** The two vectors of the Web3 Secret Storage definition; their password is testpassword. */
const SECRET = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262_144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262_144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const KEY = new Uint8Array(32).fill(0x42)
const CHEAP = { scryptN: 1_024 }

test('the vectors of the definition open', async () => {
  expect(bytesToHex(await decryptKey(PBKDF2, 'testpassword'))).toBe(SECRET)
  expect(bytesToHex(await decryptKey(SCRYPT, 'testpassword'))).toBe(SECRET)
})

test('what is encrypted opens with its password only, and names its address', async () => {
  const keystore = await encryptKey(KEY, 'pässword', CHEAP)
  expect(keystore.address).toBe(addressFromPrivateKey(KEY).slice(2))
  expect(await decryptKey(JSON.parse(JSON.stringify(keystore)), 'pässword')).toEqual(KEY)
  await expect(decryptKey(keystore, 'password')).rejects.toMatchObject({ detail: { code: 'WRONG_PASSWORD' } })
})

test('the key given stays usable and each file has its own salt and iv', async () => {
  const key = Uint8Array.from(KEY)
  const [one, two] = await Promise.all([encryptKey(key, 'p', CHEAP), encryptKey(key, 'p', CHEAP)])
  expect(key).toEqual(KEY)
  expect(one.crypto.kdfparams.salt).not.toBe(two.crypto.kdfparams.salt)
  expect(one.crypto.cipherparams.iv).not.toBe(two.crypto.cipherparams.iv)
})

const { crypto } = PBKDF2
test.each([
  ['null', null, 'the file is no object'],
  ['a list', [], 'the file is no object'],
  ['another version', { ...PBKDF2, version: 1 }, 'version 1 is not 3'],
  ['no crypto', { version: 3 }, 'crypto is no object'],
  [
    'another cipher',
    { version: 3, crypto: { ...crypto, cipher: 'aes-128-cbc' } },
    'cipher aes-128-cbc is not aes-128-ctr',
  ],
  ['a short iv', { version: 3, crypto: { ...crypto, cipherparams: { iv: '00' } } }, 'iv is no hex string of 16 bytes'],
  ['no digits', { version: 3, crypto: { ...crypto, mac: 'z'.repeat(64) } }, 'mac is no hex string of 32 bytes'],
  ['another kdf', { version: 3, crypto: { ...crypto, kdf: 'argon2' } }, 'kdf argon2 is neither scrypt nor pbkdf2'],
  [
    'work without end',
    { version: 3, crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, c: 1e12 } } },
    'c is no whole number from 1 to 10000000',
  ],
  [
    'memory without end',
    { version: 3, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 2 ** 40 } } },
    'n is no whole number from 2 to 4194304',
  ],
  [
    'work in the length of what is derived',
    { version: 3, crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, c: 1_000_000, dklen: 1_024 } } },
    'c is no whole number from 1 to 312500',
  ],
  [
    'work in lanes',
    { version: 3, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, r: 8, p: 5 } } },
    'p is no whole number from 1 to 4',
  ],
  [
    'memory in lanes',
    { version: 3, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 2, p: 4_194_304 } } },
    'it takes more than 536870912 bytes of memory to open',
  ],
  [
    'n that is no power of two',
    { version: 3, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 1_000 } } },
    'n is no power of two',
  ],
])('a file with %s is refused by name', async (_, file, reason) => {
  await expect(decryptKey(file, 'testpassword')).rejects.toMatchObject({ detail: { code: 'BAD_KEYSTORE', reason } })
})

test('a file that lacks any one member, or has nonsense there, is refused and opens nothing', async () => {
  const keystore = await encryptKey(KEY, 'p', CHEAP)
  const paths = [
    'version',
    'crypto',
    'crypto.cipher',
    'crypto.cipherparams',
    'crypto.cipherparams.iv',
    'crypto.ciphertext',
  ]
  paths.push(
    'crypto.mac',
    'crypto.kdf',
    'crypto.kdfparams',
    ...['n', 'r', 'p', 'dklen', 'salt'].map(k => `crypto.kdfparams.${k}`),
  )
  for (const path of paths) {
    for (const value of [undefined, null, -1, '', 'zz', {}, []]) {
      const file = JSON.parse(JSON.stringify(keystore)) as Record<string, unknown>
      const keys = path.split('.')
      const last = keys.pop() as string
      const owner = keys.reduce((at, key) => at[key] as Record<string, unknown>, file)
      owner[last] = value
      await expect(decryptKey(file, 'p'), `${path} = ${String(value)}`).rejects.toMatchObject({ code: 'BAD_KEYSTORE' })
    }
  }
})

test('the address of a keystore is read without the password', async () => {
  const keystore = await encryptKey(KEY, 'p', CHEAP)
  expect(keystoreAddress(keystore)).toBe(addressFromPrivateKey(KEY))
  expect(keystoreAddress({ ...keystore, address: `0x${keystore.address.toUpperCase()}` })).toBe(
    addressFromPrivateKey(KEY),
  )
  expect(keystoreAddress(PBKDF2)).toBeUndefined()
  expect(() => keystoreAddress({ ...keystore, address: 'me' })).toThrow('BAD_KEYSTORE')
})

test('a file whose address is another key’s is refused', async () => {
  const keystore = await encryptKey(KEY, 'p', CHEAP)
  const renamed = { ...keystore, address: '00'.repeat(20) }
  await expect(decryptKey(renamed, 'p')).rejects.toMatchObject({ detail: { code: 'BAD_KEYSTORE' } })
})
