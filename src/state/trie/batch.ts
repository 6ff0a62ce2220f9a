import { asBuffer, type Hex } from '../../util/bytes.ts'
import type { AccountFields, PackedBatch } from './types.ts'

/*
 * Layout, all records a multiple of 8 bytes, numbers little-endian (read by assembly/records.ts):
 *   header   16: accounts u32, slots u32, hashed u8, padding
 *   account 120: key 32 | code hash 32 | balance 32 big-endian | nonce u64 | slots u32 | kind u8 | padding 3 | for the trie's use 8
 *   slot     64: key 32 | value 32 big-endian
 * The slots of an account follow it. A key is a keccak hash, or with hashed = 0 the address (20 bytes) or slot itself.
 */
export const HEADER_BYTES = 16
export const ACCOUNT_BYTES = 120
export const SLOT_BYTES = 64

export const KIND = { delete: 0, put: 1, putCleared: 2, keep: 3 } as const

const FIRST_CAPACITY = 4_096

export interface AccountOptions {
  /** Drops all storage the account had before the slots of this batch are put. */
  readonly clearStorage?: boolean
}

/**
 * Packs changes for the trie: `account`, then the slots of that account, in any order of accounts; each account and slot at
 * most once. Keys are addresses and slots, or with `hashed` their keccak hashes; the trie's thread hashes and sorts.
 */
export class BatchPacker {
  private bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY)
  private at = HEADER_BYTES
  private accounts = 0
  private slots = 0
  private current = 0
  private currentKey: Hex = '0x'
  private dropping = false
  private readonly storageOf: Hex[] = []
  private readonly hashed: boolean

  constructor(options: { readonly hashed?: boolean } = {}) {
    this.hashed = options.hashed ?? false
  }

  /**
   * An account's new fields; undefined deletes it with all its storage (slots given for it are ignored); 'keep' leaves the
   * fields of an existing account as they are and is for accounts of which only storage changes.
   */
  account(key: Hex, fields: AccountFields | 'keep' | undefined, options: AccountOptions = {}): this {
    const at = this.reserve(ACCOUNT_BYTES)
    const { bytes } = this
    bytes.fill(0, at, at + ACCOUNT_BYTES)
    bytes.write(key.slice(2), at, 'hex')
    this.accounts++
    this.current = at
    this.currentKey = key
    this.dropping = fields === undefined
    if (fields === 'keep') bytes[at + 108] = KIND.keep
    else if (fields !== undefined) {
      bytes.write(fields.codeHash.slice(2), at + 32, 'hex')
      writeWord(bytes, fields.balance, at + 64)
      writeNonce(bytes, fields.nonce, at + 96)
      bytes[at + 108] = options.clearStorage ? KIND.putCleared : KIND.put
      if (options.clearStorage) this.storageOf.push(key)
    }
    return this
  }

  /** A slot of the account last named; a zero word deletes it. */
  slot(key: Hex, value: Hex | Uint8Array): this {
    if (this.dropping) return this
    const at = this.reserve(SLOT_BYTES)
    const { bytes } = this
    bytes.write(key.slice(2), at, 'hex')
    if (typeof value === 'string') bytes.write(value.slice(2), at + 32, 'hex')
    else {
      bytes.fill(0, at + 32, at + SLOT_BYTES - value.byteLength)
      bytes.set(value, at + SLOT_BYTES - value.byteLength)
    }
    const count = bytes.readUInt32LE(this.current + 104)
    if (count === 0 && bytes[this.current + 108] !== KIND.putCleared) this.storageOf.push(this.currentKey)
    bytes.writeUInt32LE(count + 1, this.current + 104)
    this.slots++
    return this
  }

  get entries(): number {
    return this.accounts + this.slots
  }

  /** The packed batch; the packer starts over empty. */
  finish(): PackedBatch {
    const { bytes, entries } = this
    bytes.writeUInt32LE(this.accounts, 0)
    bytes.writeUInt32LE(this.slots, 4)
    bytes.fill(0, 8, HEADER_BYTES)
    bytes[8] = this.hashed ? 1 : 0
    const buffer = bytes.buffer.slice(0, this.at) as ArrayBuffer
    const storageOf = this.storageOf.slice()
    this.at = HEADER_BYTES
    this.accounts = this.slots = 0
    this.storageOf.length = 0
    return { buffer, storageOf, entries }
  }

  private reserve(size: number): number {
    const at = this.at
    if (at + size > this.bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(this.bytes.byteLength * 2)
      this.bytes.copy(larger, 0, 0, at)
      this.bytes = larger
    }
    this.at = at + size
    return at
  }
}

const writeWord = (bytes: Buffer, value: bigint, at: number): void => {
  if (value <= 0xffff_ffff_ffff_ffffn) {
    bytes.writeBigUInt64BE(value, at + 24)
    return
  }
  bytes.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, at + 24)
  bytes.writeBigUInt64BE((value >> 64n) & 0xffff_ffff_ffff_ffffn, at + 16)
  if (value < 1n << 128n) return
  bytes.writeBigUInt64BE((value >> 128n) & 0xffff_ffff_ffff_ffffn, at + 8)
  bytes.writeBigUInt64BE(value >> 192n, at)
}

const writeNonce = (bytes: Buffer, nonce: number | bigint, at: number): void => {
  if (typeof nonce === 'bigint') bytes.writeBigUInt64LE(nonce, at)
  else {
    bytes.writeUInt32LE(nonce >>> 0, at)
    bytes.writeUInt32LE(Math.floor(nonce / 2 ** 32), at + 4)
  }
}

/** An empty batch: a block that changes nothing. */
export const emptyBatch = (): PackedBatch => new BatchPacker().finish()

export const packedBytes = (batch: PackedBatch): Uint8Array => asBuffer(new Uint8Array(batch.buffer))
