import { assert } from '@tandem/base/assert.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { EMPTY_CODE_HASH, MAX_BALANCE } from './account.ts'

/** Fields of an account in the account trie, without its storage root. */
interface TrieAccount {
  readonly nonce: number | bigint
  readonly balance: bigint
  /** EMPTY_CODE_HASH without code. */
  readonly codeHash: Hex
}

/** Changes for the trie in one transferable buffer (`BatchPacker`), consumed by the call that gets it: it moves to the other thread. */
export interface PackedBatch {
  readonly buffer: ArrayBuffer
  /** Keys as given, in order, of the accounts whose storage the batch touches. */
  readonly storageOf: readonly Hex[]
  /** Number of accounts and slots in it. */
  readonly entries: number
}

/*
 * Layout, all records a multiple of 8 bytes, numbers little-endian (read by assembly/records.ts):
 *   header   16: accounts u32, slots u32, hashed u8, padding
 *   account 120: key 32 | code hash 32 | balance 32 big-endian | nonce u64 | slots u32 | kind u8 | padding 3 | for the trie's use 8
 *   slot     64: key 32 | value 32 big-endian
 * The slots of an account follow it. A key is a keccak256 hash, or with hashed = 0 the address (20 bytes) or slot itself.
 */
export const HEADER_BYTES = 16
export const ACCOUNT_BYTES = 120
export const SLOT_BYTES = 64

export const KIND = { delete: 0, put: 1, putCleared: 2, keep: 3 } as const

const FIRST_CAPACITY = 4_096
/** Memory of a packer that has finished, for the next one. */
let idle: Buffer | undefined

interface AccountOptions {
  /** Drops the account's earlier storage before the slots of this batch are put. */
  readonly clearStorage?: boolean
}

/**
 * Packs changes for the trie: `account`, then the slots of that account, in any order of accounts; each account and slot at most
 * once. Keys are addresses and slots, or with `hashed` their keccak256 hashes; the trie's thread hashes and sorts.
 */
export class BatchPacker {
  private bytes: Buffer
  private view: DataView
  private at = HEADER_BYTES
  private accounts = 0
  private slots = 0
  /** Offset and key of the last account, and whether it is being deleted. */
  private current = 0
  private currentKey: Hex = '0x'
  private currentKind: number = KIND.put
  private currentSlots = 0
  private readonly storageOf: Hex[] = []
  private readonly hashed: boolean

  /** `bytes`: initial capacity, when the size is known approximately. */
  constructor(options: { readonly hashed?: boolean; readonly bytes?: number } = {}) {
    this.hashed = options.hashed ?? false
    const size = options.bytes ?? 0
    this.bytes =
      size <= FIRST_CAPACITY && idle !== undefined ? idle : Buffer.allocUnsafeSlow(Math.max(size, FIRST_CAPACITY))
    if (this.bytes === idle) idle = undefined
    this.view = viewOf(this.bytes)
  }

  /** Adds an account's new fields; undefined: deleted with its storage; 'keep': unchanged, where only storage changes. */
  account(key: Hex, fields: TrieAccount | 'keep' | undefined, options: AccountOptions = NO_OPTIONS): this {
    assert(key.length === (this.hashed ? 66 : 42), 'an account is named by its address, or its hash in a hashed batch')
    const at = this.reserve(ACCOUNT_BYTES)
    const { view } = this
    // Equal batches have equal bytes.
    this.bytes.fill(0, at, at + ACCOUNT_BYTES)
    this.bytes.write(key.slice(2), at, 'hex')
    this.accounts++
    this.current = at
    this.currentKey = key
    this.currentSlots = 0
    this.currentKind = KIND.delete
    if (fields === 'keep') this.currentKind = KIND.keep
    else if (fields !== undefined) {
      this.currentKind = options.clearStorage ? KIND.putCleared : KIND.put
      this.putFields(at, fields)
      if (options.clearStorage) this.storageOf.push(key)
    }
    view.setUint32(at + 108, this.currentKind, true)
    return this
  }

  /** Adds a slot of the last account; a zero word deletes it. */
  slot(key: Hex, value: Hex | Uint8Array): this {
    if (this.currentKind === KIND.delete) return this
    assert(key.length === 66, 'a slot is a 32-byte word')
    const at = this.reserve(SLOT_BYTES)
    const { bytes } = this
    bytes.write(key.slice(2), at, 'hex')
    if (typeof value === 'string') bytes.write(value.slice(2), at + 32, 'hex')
    else {
      bytes.fill(0, at + 32, at + SLOT_BYTES - value.byteLength)
      bytes.set(value, at + SLOT_BYTES - value.byteLength)
    }
    if (this.currentSlots++ === 0 && this.currentKind !== KIND.putCleared) this.storageOf.push(this.currentKey)
    this.view.setUint32(this.current + 104, this.currentSlots, true)
    this.slots++
    return this
  }

  get entries(): number {
    return this.accounts + this.slots
  }

  /** Returns the packed batch and resets the packer. */
  finish(): PackedBatch {
    this.reserve(0)
    const { bytes, view, entries } = this
    view.setUint32(0, this.accounts, true)
    view.setUint32(4, this.slots, true)
    view.setBigUint64(8, this.hashed ? 1n : 0n, true)
    const isSmall = bytes.byteLength === FIRST_CAPACITY
    const memory = bytes.buffer as ArrayBuffer
    const buffer = isSmall ? memory.slice(0, this.at) : memory.transfer(this.at)
    if (isSmall) idle = bytes
    const storageOf = this.storageOf.slice()
    // Most packers make one batch.
    this.bytes = Buffer.alloc(0)
    this.at = HEADER_BYTES
    this.accounts = this.slots = this.storageOf.length = 0
    return { buffer, storageOf, entries }
  }

  private putFields(at: number, { nonce, balance, codeHash }: TrieAccount): void {
    const { bytes, view } = this
    if (codeHash === EMPTY_CODE_HASH) bytes.set(EMPTY_CODE, at + 32)
    else bytes.write(codeHash.slice(2), at + 32, 'hex')
    assert(balance >= 0n && balance <= MAX_BALANCE, 'a balance fits 256 bits')
    const large = balance > MAX_U64
    view.setBigUint64(at + 64, large ? balance >> 192n : 0n)
    view.setBigUint64(at + 72, large ? balance >> 128n : 0n)
    view.setBigUint64(at + 80, large ? balance >> 64n : 0n)
    view.setBigUint64(at + 88, balance)
    view.setBigUint64(at + 96, BigInt(nonce), true)
  }

  private reserve(size: number): number {
    const at = this.at
    if (at + size > this.bytes.byteLength) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, this.bytes.byteLength * 2))
      this.bytes.copy(larger, 0, 0, at)
      this.bytes = larger
      this.view = viewOf(larger)
    }
    this.at = at + size
    return at
  }
}

const NO_OPTIONS: AccountOptions = {}
const MAX_U64 = 2n ** 64n - 1n
const EMPTY_CODE = hexToBytes(EMPTY_CODE_HASH)

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
