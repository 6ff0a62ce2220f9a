import { createHmac, pbkdf2Sync } from 'node:crypto'
import { assert } from '@tandem/base/assert.ts'
import { asBuffer, bytesToBigint, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { signatures } from '../signature.ts'

/*
 * Private keys of a mnemonic (BIP-39 seed, BIP-32 derivation), with node's own HMAC and the chosen signature provider: the library for this
 * takes a tenth of a second for ten accounts, a third of a devnet's whole start. Tests compare it with that library.
 */
interface HdKey {
  readonly privateKey: Uint8Array
  readonly chainCode: Uint8Array
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const HARDENED = 0x8000_0000

/** Seed of a mnemonic without a passphrase (BIP-39). The words are not checked here. */
export const seedFromMnemonic = (mnemonic: string): Uint8Array =>
  pbkdf2Sync(mnemonic.normalize('NFKD'), 'mnemonic', 2_048, 64, 'sha512')

export const masterKeyFromSeed = (seed: Uint8Array): HdKey => split('Bitcoin seed', seed, 0n)

/** Derives a path such as `m/44'/60'/0'/0`. */
export const derivePath = (key: HdKey, path: string): HdKey => {
  const [root, ...steps] = path.split('/')
  assert(root === 'm', 'a derivation path starts at the master key')
  return steps.reduce((parent, step) => deriveChild(parent, indexOf(step)), key)
}

/** CKDpriv of BIP-32. */
export const deriveChild = (key: HdKey, index: number): HdKey => {
  const data = Buffer.alloc(37)
  if (index >= HARDENED) data.set(key.privateKey, 1)
  else data.set(compressedPublicKey(key.privateKey))
  data.writeUInt32BE(index, 33)
  return split(key.chainCode, data, bytesToBigint(key.privateKey))
}

const split = (hmacKey: string | Uint8Array, data: Uint8Array, add: bigint): HdKey => {
  const digest = createHmac('sha512', hmacKey).update(data).digest()
  const tweak = bytesToBigint(digest.subarray(0, 32))
  const secret = (tweak + add) % ORDER
  // The standard skips such an index; its probability is 2^-127.
  assert(tweak < ORDER && secret !== 0n, 'a derived key is a scalar')
  return { privateKey: hexToBytes(toWord(secret)), chainCode: new Uint8Array(digest.subarray(32)) }
}

const indexOf = (step: string): number => {
  const match = /^(\d+)('?)$/.exec(step)
  assert(match, 'a step of a derivation path is a number, hardened with an apostrophe')
  return Number(match[1]) + (match[2] ? HARDENED : 0)
}

const compressedPublicKey = (privateKey: Uint8Array): Uint8Array => {
  const point = asBuffer(signatures().publicKey(privateKey))
  const out = new Uint8Array(33)
  out[0] = 2 + ((point[63] as number) & 1)
  out.set(point.subarray(0, 32), 1)
  return out
}
