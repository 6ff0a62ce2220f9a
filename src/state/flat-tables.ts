import { asBuffer, EMPTY_BYTES, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256 } from '../crypto/hash.ts'
import { BUCKETS } from '../storage/buckets.ts'
import type { Snapshot, Store } from '../storage/store.ts'
import { type Account, decodeAccount, EMPTY_CODE_HASH } from './account.ts'

export const FLAT_BUCKETS = { account: BUCKETS.account, slot: BUCKETS.slot } as const

/** Key lengths of the flat tables. */
export const ACCOUNT_KEY_BYTES = 32
export const SLOT_KEY_BYTES = 64

const scratch = Buffer.alloc(32)
const addressScratch = scratch.subarray(0, 20)

/** keccak256 of an address or slot, which is the key of its row. */
export const hashedKey = (hex: Hex): Uint8Array => {
  if (hex.length === 42) {
    scratch.write(hex.slice(2), 0, 'hex')
    return keccak256(addressScratch)
  }
  scratch.write(hex.slice(2), 0, 'hex')
  return keccak256(scratch)
}

/** A key as a binary string, for map keys; it takes a fifth of the memory of a small Uint8Array. */
export const binaryKey = (key: Uint8Array): string => asBuffer(key).toString('latin1')
export const bytesFromBinaryKey = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export const slotKey = (hashedAddress: Uint8Array, slot: Hex): Uint8Array => {
  const key = new Uint8Array(SLOT_KEY_BYTES)
  key.set(hashedAddress)
  key.set(hashedKey(slot), ACCOUNT_KEY_BYTES)
  return key
}

export const readAccount = (store: Store, hashedAddress: Uint8Array, snapshot?: Snapshot): Account | undefined => {
  const row = store.getSync(BUCKETS.account, hashedAddress, snapshot)
  return row === undefined ? undefined : decodeAccount(row)
}

export const readSlot = (store: Store, hashedAddress: Uint8Array, slot: Hex, snapshot?: Snapshot): Hex =>
  decodeWord(store.getSync(BUCKETS.slot, slotKey(hashedAddress, slot), snapshot))

/** Returns code by hash. Code is never deleted: several accounts may share it, and history needs it. */
export const readCode = (store: Store, codeHash: Hex): Uint8Array =>
  codeHash === EMPTY_CODE_HASH ? EMPTY_BYTES : (store.getSync(BUCKETS.code, hexToBytes(codeHash)) ?? EMPTY_BYTES)

/** Storage word in stored form: without leading zeros; zero is empty. */
export const encodeWord = (word: Hex): Uint8Array => {
  if (word === ZERO_HASH) return EMPTY_BYTES
  let at = 2
  while (word.charCodeAt(at) === 48) at++
  return Buffer.from(word.slice(at & 1 ? at - 1 : at), 'hex')
}

export const decodeWord = (bytes: Uint8Array | undefined): Hex => {
  if (bytes === undefined || bytes.byteLength === 0) return ZERO_HASH
  return `0x${asBuffer(bytes).toString('hex').padStart(64, '0')}`
}
