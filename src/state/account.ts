import { assert } from '@tandem/base/assert.ts'
import { asBuffer, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { type Nonce, uint64FromBigint } from '@tandem/base/uint64.ts'

export interface Account {
  readonly nonce: Nonce
  readonly balance: bigint
  /** keccak256 of the code; EMPTY_CODE_HASH without code. */
  readonly codeHash: Hex
  /** Root of the account's storage trie as of the last block; EMPTY_ROOT when empty. */
  readonly storageRoot: Hex
}

/** Largest balance of an account, wei. */
export const MAX_BALANCE = 2n ** 256n - 1n
export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
export const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/*
 * Stored form: head byte | nonce | balance | code hash if any | storage root if any. The head byte holds the nonce's length
 * (low 4 bits) and whether the two hashes follow; the balance takes the rest. A plain account has 2 to 20 bytes.
 */
const HAS_CODE = 0x10
const HAS_STORAGE = 0x20
const HASH_BYTES = 32

export const encodeAccount = (account: Account): Uint8Array => {
  const nonceBytes = nonceSize(account.nonce)
  const hex = account.balance === 0n ? '' : account.balance.toString(16)
  const balanceBytes = (hex.length + 1) >> 1
  const hasCode = account.codeHash !== EMPTY_CODE_HASH
  const hasStorage = account.storageRoot !== EMPTY_ROOT
  const hashes = (hasCode ? HASH_BYTES : 0) + (hasStorage ? HASH_BYTES : 0)
  const out = Buffer.allocUnsafe(1 + nonceBytes + balanceBytes + hashes)
  out[0] = nonceBytes | (hasCode ? HAS_CODE : 0) | (hasStorage ? HAS_STORAGE : 0)
  let at = 1
  if (nonceBytes > 0) at += out.write(account.nonce.toString(16).padStart(2 * nonceBytes, '0'), at, 'hex')
  if (balanceBytes > 0) at += out.write(hex.length & 1 ? `0${hex}` : hex, at, 'hex')
  if (hasCode) at += out.write(account.codeHash.slice(2), at, 'hex')
  if (hasStorage) out.write(account.storageRoot.slice(2), at, 'hex')
  return out
}

export const decodeAccount = (bytes: Uint8Array): Account => {
  const buffer = asBuffer(bytes)
  const head = buffer[0] ?? 0
  const nonceBytes = head & 0x0f
  const storageAt = buffer.byteLength - (head & HAS_STORAGE ? HASH_BYTES : 0)
  const codeAt = storageAt - (head & HAS_CODE ? HASH_BYTES : 0)
  const balanceAt = 1 + nonceBytes
  assert(nonceBytes <= 8 && balanceAt <= codeAt, 'a stored account is whole')
  return {
    nonce: nonceBytes === 0 ? 0 : decodeNonce(buffer.toString('hex', 1, balanceAt)),
    balance: balanceAt === codeAt ? 0n : BigInt(`0x${buffer.toString('hex', balanceAt, codeAt)}`),
    codeHash: head & HAS_CODE ? bytesToHex(buffer.subarray(codeAt, storageAt)) : EMPTY_CODE_HASH,
    storageRoot: head & HAS_STORAGE ? bytesToHex(buffer.subarray(storageAt)) : EMPTY_ROOT,
  }
}

/** Returns the bytes in which a nonce is stored: one of a few sizes, so that most need a comparison or two. */
const nonceSize = (nonce: Nonce): number => {
  assert(nonce >= 0 && (typeof nonce === 'bigint' || Number.isSafeInteger(nonce)), 'a nonce is exact')
  if (nonce === 0) return 0
  if (nonce < 0x100) return 1
  if (nonce < 0x1_0000) return 2
  if (nonce < 0x1_0000_0000) return 4
  return nonce <= Number.MAX_SAFE_INTEGER ? 7 : 8
}

const decodeNonce = (hex: string): Nonce =>
  hex.length < 16 ? Number.parseInt(hex, 16) : uint64FromBigint(BigInt(`0x${hex}`))
