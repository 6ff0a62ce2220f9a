import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { assert } from '@tandem/base/assert.ts'
import { asBuffer, concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import { keccak256 } from '../hash.ts'
import { addressFromPrivateKey, isScalar } from '../signature.ts'

interface ScryptParams {
  readonly n: number
  readonly r: number
  readonly p: number
  readonly dklen: number
  readonly salt: string
}

type KeystoreError =
  | { readonly code: 'WRONG_PASSWORD' }
  /** The file is not a supported keystore; `reason` says why. */
  | { readonly code: 'BAD_KEYSTORE'; readonly reason: string }

export interface EncryptOptions {
  /** Work factor, a power of two: 2^18 takes about a second and 256 MiB. Tests use a small one. */
  readonly scryptN?: number
}

const STANDARD_SCRYPT_N = 262_144
const SCRYPT_R = 8
const DERIVED_BYTES = 32

const deriveScrypt = promisify<Uint8Array, Uint8Array, number, object, Buffer>(scrypt)
const derivePbkdf2 = promisify(pbkdf2)

/**
 * Encrypts a 32-byte private key with a password: Web3 Secret Storage, version 3, as written by geth, ethers and Foundry. The key itself is
 * unchanged.
 */
export const encryptKey = async (privateKey: Uint8Array, password: string, options: EncryptOptions = {}) => {
  assert(privateKey.byteLength === 32 && isScalar(privateKey), 'a private key is a number below the group order')
  const params = {
    n: options.scryptN ?? STANDARD_SCRYPT_N,
    r: SCRYPT_R,
    p: 1,
    dklen: DERIVED_BYTES,
    salt: randomBytes(32).toString('hex'),
  }
  const iv = randomBytes(16)
  const derived = await runScrypt(params, password)
  try {
    const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
    const ciphertext = Buffer.concat([cipher.update(privateKey), cipher.final()])
    return {
      version: 3,
      id: randomUUID(),
      // Without 0x, as the format requires.
      address: addressFromPrivateKey(privateKey).slice(2),
      crypto: {
        cipher: 'aes-128-ctr',
        cipherparams: { iv: iv.toString('hex') },
        ciphertext: ciphertext.toString('hex'),
        kdf: 'scrypt',
        kdfparams: params,
        mac: macOf(derived, ciphertext).toString('hex'),
      },
    }
  } finally {
    derived.fill(0)
  }
}

/** Decrypts the 32-byte private key of a parsed keystore; the caller zero-fills it after use. Throws CodedError<KeystoreError>. */
export const decryptKey = async (keystore: unknown, password: string): Promise<Uint8Array> => {
  const file = keystoreOf(keystore)
  const crypto = objectOf(file['crypto'] ?? file['Crypto'], 'crypto')
  if (crypto['cipher'] !== 'aes-128-ctr') throw bad(`cipher ${String(crypto['cipher'])} is not aes-128-ctr`)
  const iv = bytesOf(objectOf(crypto['cipherparams'], 'cipherparams')['iv'], 'iv', 16)
  const ciphertext = bytesOf(crypto['ciphertext'], 'ciphertext', 32)
  const mac = bytesOf(crypto['mac'], 'mac', 32)
  const derived = await derive(crypto['kdf'], objectOf(crypto['kdfparams'], 'kdfparams'), password)
  try {
    if (!timingSafeEqual(macOf(derived, ciphertext), mac))
      throw new CodedError<KeystoreError>({ code: 'WRONG_PASSWORD' })
    const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
    const part = decipher.update(ciphertext)
    const privateKey = new Uint8Array(part)
    part.fill(0)
    checkKey(privateKey, file['address'])
    return privateKey
  } finally {
    derived.fill(0)
  }
}

/** Returns the address in a keystore file, which may be absent. Throws BAD_KEYSTORE for other content. */
export const keystoreAddress = (keystore: unknown): Hex | undefined => {
  const { address } = keystoreOf(keystore)
  return address === undefined ? undefined : `0x${bytesOf(address, 'address', 20).toString('hex')}`
}

const keystoreOf = (value: unknown): Readonly<Record<string, unknown>> => {
  const file = objectOf(value, 'the file')
  if (file['version'] !== 3) throw bad(`version ${String(file['version'])} is not 3`)
  return file
}

const checkKey = (privateKey: Uint8Array, address: unknown): void => {
  if (!isScalar(privateKey)) throw bad('the encrypted bytes are no private key')
  if (address === undefined) return
  const named = typeof address === 'string' ? address.toLowerCase().replace(/^0x/, '') : ''
  if (named === addressFromPrivateKey(privateKey).slice(2)) return
  privateKey.fill(0)
  throw bad('the address is not that of the encrypted key')
}

const macOf = (derived: Buffer, ciphertext: Uint8Array): Buffer => {
  const input = concatBytes(derived.subarray(16, 32), ciphertext)
  const mac = asBuffer(keccak256(input))
  input.fill(0)
  return mac
}

const derive = async (kdf: unknown, params: Readonly<Record<string, unknown>>, password: string): Promise<Buffer> => {
  const dklen = integerOf(params['dklen'], 'dklen', DERIVED_BYTES, 1_024)
  const salt = bytesOf(params['salt'], 'salt')
  if (kdf === 'scrypt') return runScrypt({ ...costOf(params), dklen, salt: salt.toString('hex') }, password)
  if (kdf !== 'pbkdf2') throw bad(`kdf ${String(kdf)} is neither scrypt nor pbkdf2`)
  if (params['prf'] !== 'hmac-sha256') throw bad(`prf ${String(params['prf'])} is not hmac-sha256`)
  // Every 32 derived bytes take all the rounds again.
  const most = KEY_LIMITS.pbkdf2Rounds / Math.ceil(dklen / DERIVED_BYTES)
  const rounds = integerOf(params['c'], 'c', 1, most)
  return derivePbkdf2(password, salt, rounds, dklen, 'sha256')
}

/** Limits the memory and time that a file can cost to KEY_LIMITS. */
const costOf = (params: Readonly<Record<string, unknown>>): Pick<ScryptParams, 'n' | 'r' | 'p'> => {
  const { scryptBytes, scryptWork } = KEY_LIMITS
  const r = integerOf(params['r'], 'r', 1, 1_024)
  const n = integerOf(params['n'], 'n', 2, scryptBytes / 128 / r)
  const p = integerOf(params['p'], 'p', 1, scryptWork / n / r)
  if ((n & (n - 1)) !== 0) throw bad('n is no power of two')
  if (128 * r * (n + p) > scryptBytes) throw bad(`it takes more than ${scryptBytes} bytes of memory to open`)
  return { n, r, p }
}

const runScrypt = async ({ n, r, p, dklen, salt }: ScryptParams, password: string): Promise<Buffer> => {
  const passwordBytes = Buffer.from(password)
  const saltBytes = Buffer.from(salt, 'hex')
  try {
    // RFC 7914 requires n below 2^(16 r) and OpenSSL enforces it, but the format's own vector (n 2^18, r 1) and old files violate it.
    if (n >= 2 ** (16 * r)) {
      const { scryptAsync } = await import('@noble/hashes/scrypt.js')
      const options = { N: n, r, p, dkLen: dklen, maxmem: KEY_LIMITS.scryptBytes * 2 }
      return asBuffer(await scryptAsync(passwordBytes, saltBytes, options))
    }
    const maxmem = 128 * r * (n + p + 2)
    return await deriveScrypt(passwordBytes, saltBytes, dklen, { N: n, r, p, maxmem })
  } finally {
    passwordBytes.fill(0)
  }
}

const bad = (reason: string): CodedError<KeystoreError> => new CodedError({ code: 'BAD_KEYSTORE', reason })

const objectOf = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(`${name} is no object`)
  return value as Record<string, unknown>
}

const bytesOf = (value: unknown, name: string, size?: number): Buffer => {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  const sized =
    size === undefined
      ? digits.length > 0 && digits.length <= 2_048 && digits.length % 2 === 0
      : digits.length === 2 * size
  if (!sized || !/^[0-9a-f]+$/i.test(digits))
    throw bad(`${name} is no hex string${size === undefined ? '' : ` of ${size} bytes`}`)
  return Buffer.from(digits, 'hex')
}

const integerOf = (value: unknown, name: string, min: number, max: number): number => {
  if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
    throw bad(`${name} is no whole number from ${min} to ${Math.floor(max)}`)
  }
  return value as number
}
