import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { STATE_LIMITS } from '../../config/limits/storage.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT, MAX_BALANCE } from '../account.ts'
import { nextStorageVersion, type StateReader } from '../state-reader.ts'
import type { StateChanges } from '../update/state-update.ts'
import { JournalAccount, JournalSlot } from './journal-account.ts'

/** Fields of an account or the word of a slot before a change, with the version of the storage then. */
type UndoEntry = { readonly version: number | undefined } & (
  | { readonly journalSlot: JournalSlot; readonly before: Hex }
  | { readonly journalSlot?: undefined; readonly journalAccount: JournalAccount; readonly before: AccountFields }
)
type AccountFields = Pick<
  JournalAccount,
  'exists' | 'nonce' | 'balance' | 'codeHash' | 'slots' | 'cleared' | 'touchedIn'
>

/** The RIPEMD-160 precompile stays touched by a failed call: mainnet's history at block 2,675,119 made that a rule (EIP-161). */
const RIPEMD: Hex = `0x${'00'.repeat(19)}03`

/** Working state of a block over an unchanging base, synchronous, revertible to checkpoints until `endTransaction`. */
export class Journal implements StateReader {
  readonly #base: StateReader
  readonly #entries = new Map<Hex, JournalAccount>()
  readonly #codes = new Map<Hex, Uint8Array>()
  readonly #touched: JournalAccount[] = []
  /** Accounts whose code was read from the base and is kept. */
  readonly #keptCodes: JournalAccount[] = []
  #keptCodeBytes = 0
  #undo: UndoEntry[] = []
  #transaction = 1
  /** Version of a base that does not tell its own. */
  #unknownBase: number | undefined = undefined
  /** undefined: no storage is changed. */
  #version: number | undefined = undefined

  constructor(base: StateReader) {
    this.#base = base
  }

  account(address: Hex): Account | undefined {
    return this.#entry(address).toAccount()
  }

  /** Wei; zero without an account. */
  balance(address: Hex): bigint {
    return this.#entry(address).balance
  }

  nonce(address: Hex): Nonce {
    return this.#entry(address).nonce
  }

  /** EMPTY_CODE_HASH also without an account: call `exists` where that matters (EXTCODEHASH). */
  codeHash(address: Hex): Hex {
    return this.#entry(address).codeHash
  }

  code(address: Hex): Uint8Array {
    const journalAccount = this.#entry(address)
    if (journalAccount.codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES
    // Code not set here is the base's: a changed hash always came with its code.
    journalAccount.code ??= this.#codes.get(journalAccount.codeHash) ?? this.#readCode(journalAccount)
    return journalAccount.code
  }

  useCode(address: Hex, use: (code: Uint8Array) => void): void {
    const { code, codeHash } = this.#entry(address)
    const isOfBase = code === undefined && codeHash !== EMPTY_CODE_HASH && !this.#codes.has(codeHash)
    if (isOfBase && this.#base.useCode) this.#base.useCode(address, use)
    else use(this.code(address))
  }

  storage(address: Hex, slot: Hex): Hex {
    return this.#slot(this.#entry(address), slot).value
  }

  /** Like `storage`, for a caller that keeps the word itself. */
  readStorage(address: Hex, slot: Hex): Hex {
    const { slots, cleared, base } = this.#entry(address)
    const known = slots?.get(slot)
    if (known !== undefined) return known.value
    return cleared || base === undefined ? ZERO_HASH : this.#base.storage(address, slot)
  }

  /** Number of the words of all accounts: two states with the same one have the same. */
  get storageVersion(): number {
    return this.#version ?? this.baseVersion
  }

  /** Number of the words of the base alone, which may move. */
  get baseVersion(): number {
    const { storageVersion } = this.#base
    if (storageVersion !== undefined) return storageVersion
    this.#unknownBase ??= nextStorageVersion()
    return this.#unknownBase
  }

  /** Returns the word at the start of the current transaction (EIP-2200). */
  originalStorage(address: Hex, slot: Hex): Hex {
    const found = this.#slot(this.#entry(address), slot)
    return found.originalIn === this.#transaction ? found.original : found.value
  }

  exists(address: Hex): boolean {
    return this.#entry(address).exists
  }

  /** True without an account, or for one without nonce, balance and code (EIP-161). */
  isEmpty(address: Hex): boolean {
    return this.#entry(address).isEmpty()
  }

  /** Creates the account if absent. */
  setBalance(address: Hex, balance: bigint): void {
    assert(balance >= 0n, 'a balance is not negative')
    this.#change(this.#entry(address)).balance = balance
  }

  /** A sum beyond the largest balance is that balance: only states that were edited or overridden hold so much. */
  addBalance(address: Hex, wei: bigint): void {
    const sum = this.#entry(address).balance + wei
    this.setBalance(address, sum > MAX_BALANCE ? MAX_BALANCE : sum)
  }

  /** The caller has checked that the balance suffices. */
  subBalance(address: Hex, wei: bigint): void {
    this.setBalance(address, this.#entry(address).balance - wei)
  }

  setNonce(address: Hex, nonce: Nonce): void {
    this.#change(this.#entry(address)).nonce = nonce
  }

  setCode(address: Hex, code: Uint8Array): void {
    const journalAccount = this.#change(this.#entry(address))
    journalAccount.codeHash = code.byteLength === 0 ? EMPTY_CODE_HASH : bytesToHex(keccak256(code))
    journalAccount.code = code
    if (code.byteLength > 0) this.#codes.set(journalAccount.codeHash, code)
  }

  /** Zero deletes the slot. Creates the account if absent. */
  setStorage(address: Hex, slot: Hex, word: Hex): void {
    const journalAccount = this.#touch(this.#entry(address))
    if (!journalAccount.exists) this.#change(journalAccount)
    const found = this.#slot(journalAccount, slot)
    if (found.value === word) return
    this.#undo.push({ version: this.#version, journalSlot: found, before: found.value })
    this.#version = nextStorageVersion()
    if (found.originalIn !== this.#transaction) {
      found.original = found.value
      found.originalIn = this.#transaction
    }
    found.value = word
  }

  /** Creates a new account at the address: nonce 0, no code, no storage; an existing balance is kept. */
  createAccount(address: Hex): void {
    const journalAccount = this.#entry(address)
    this.#reset(journalAccount, journalAccount.balance, true)
  }

  /** Deletes the account with its storage and balance. */
  deleteAccount(address: Hex): void {
    const journalAccount = this.#entry(address)
    if (journalAccount.exists) this.#reset(journalAccount, 0n, false)
  }

  /** Marks the account for the sweep of EIP-158 without changing it. Every setter does so too. */
  touch(address: Hex): void {
    this.#touch(this.#entry(address))
  }

  /** Deletes the empty accounts this transaction touched (EIP-161), at its end. */
  sweepTouched(): void {
    for (const journalAccount of this.#touched) {
      if (journalAccount.touchedIn === this.#transaction && journalAccount.exists && journalAccount.isEmpty())
        this.#reset(journalAccount, 0n, false)
    }
  }

  /** Returns a checkpoint to revert to; checkpoints end with their transaction. */
  checkpoint(): number {
    return this.#undo.length
  }

  revert(mark: number): void {
    assert(mark >= 0 && mark <= this.#undo.length, 'a checkpoint of the running transaction')
    for (let i = this.#undo.length - 1; i >= mark; i--) {
      const change = this.#undo[i] as UndoEntry
      this.#version = change.version
      if (change.journalSlot !== undefined) change.journalSlot.value = change.before
      else restoreFields(change.journalAccount, change.before)
    }
    this.#undo.length = mark
  }

  /** Makes the transaction's changes part of the block and starts the next. */
  endTransaction(): void {
    this.#undo = []
    this.#touched.length = 0
    this.#transaction++
  }

  /** Returns the changes against the base. Sealing needs the base to be the head. */
  changes(): StateChanges {
    return collectChanges(this.#entries.values(), this.#codes)
  }

  #entry(address: Hex): JournalAccount {
    let journalAccount = this.#entries.get(address)
    if (journalAccount === undefined) {
      const account = this.#base.account(address)
      // The account of a journal has the root of the state below it.
      const hadStorage =
        this.#base instanceof Journal
          ? this.#base.#entry(address).hasStorage()
          : account !== undefined && account.storageRoot !== EMPTY_ROOT
      journalAccount = new JournalAccount(address, account, hadStorage)
      this.#entries.set(address, journalAccount)
    }
    return journalAccount
  }

  /** A block may read gigabytes of code: kept code is dropped beyond a limit, and can be read again. */
  #readCode(journalAccount: JournalAccount): Uint8Array {
    const code = this.#base.code(journalAccount.address)
    this.#keptCodeBytes += code.byteLength
    if (this.#keptCodeBytes > STATE_LIMITS.journalCodeBytes) {
      for (const kept of this.#keptCodes) kept.code = undefined
      this.#keptCodes.length = 0
      this.#keptCodeBytes = code.byteLength
    }
    this.#keptCodes.push(journalAccount)
    return code
  }

  #slot(journalAccount: JournalAccount, slot: Hex): JournalSlot {
    journalAccount.slots ??= new Map()
    let found = journalAccount.slots.get(slot)
    if (found === undefined) {
      const base = journalAccount.base === undefined ? ZERO_HASH : this.#base.storage(journalAccount.address, slot)
      found = new JournalSlot(base, journalAccount.cleared ? ZERO_HASH : base)
      journalAccount.slots.set(slot, found)
    }
    return found
  }

  #touch(journalAccount: JournalAccount): JournalAccount {
    if (journalAccount.touchedIn !== this.#transaction) this.#note(journalAccount)
    return journalAccount
  }

  /** Notes the fields of an account that is about to change, to undo that; touches it. */
  #note(journalAccount: JournalAccount): void {
    const { exists, nonce, balance, codeHash, slots, cleared, touchedIn } = journalAccount
    const before = { exists, nonce, balance, codeHash, slots, cleared, touchedIn }
    this.#undo.push({ version: this.#version, journalAccount, before })
    if (touchedIn === this.#transaction) return
    journalAccount.touchedIn = this.#transaction
    this.#touched.push(journalAccount)
  }

  /** Prepares an account for a change of its fields, after which it exists. */
  #change(journalAccount: JournalAccount): JournalAccount {
    this.#note(journalAccount)
    journalAccount.exists = true
    journalAccount.view = undefined
    return journalAccount
  }

  #reset(journalAccount: JournalAccount, balance: bigint, exists: boolean): void {
    this.#change(journalAccount)
    this.#version = nextStorageVersion()
    journalAccount.exists = exists
    journalAccount.nonce = 0
    journalAccount.balance = balance
    journalAccount.codeHash = EMPTY_CODE_HASH
    journalAccount.slots = undefined
    journalAccount.cleared = true
  }
}

const restoreFields = (journalAccount: JournalAccount, before: AccountFields): void => {
  const { address, codeHash, touchedIn } = journalAccount
  if (codeHash !== before.codeHash) journalAccount.code = undefined
  Object.assign(journalAccount, before)
  if (address === RIPEMD) journalAccount.touchedIn = touchedIn
  journalAccount.view = undefined
}

/** Computes the difference between a journal's entries and their base, without changes that were undone. */
const collectChanges = (entries: Iterable<JournalAccount>, codes: ReadonlyMap<Hex, Uint8Array>): StateChanges => {
  const accounts = new Map<Hex, { before: Account | undefined; after: Account | undefined }>()
  const storage = new Map<Hex, Map<Hex, { before: Hex; after: Hex }>>()
  const code = new Map<Hex, Uint8Array>()
  const cleared = new Set<Hex>()
  for (const journalAccount of entries) {
    const dropped = journalAccount.droppedStorage()
    if (dropped) cleared.add(journalAccount.address)
    if (dropped || !journalAccount.sameFieldsAsBase()) {
      accounts.set(journalAccount.address, { before: journalAccount.base, after: journalAccount.toAccount() })
      const added =
        journalAccount.codeHash === journalAccount.base?.codeHash ? undefined : codes.get(journalAccount.codeHash)
      if (added !== undefined) code.set(journalAccount.codeHash, added)
    }
    const slots = slotChanges(journalAccount, dropped)
    if (slots !== undefined) storage.set(journalAccount.address, slots)
  }
  return { accounts, storage, code, cleared }
}

/** When the earlier storage is gone, a word equal to the old one was written anew and counts as a change. */
const slotChanges = (journalAccount: JournalAccount, dropped: boolean) => {
  if (journalAccount.slots === undefined) return undefined
  let changed: Map<Hex, { before: Hex; after: Hex }> | undefined
  for (const [key, journalSlot] of journalAccount.slots) {
    if (journalSlot.base === journalSlot.value && (!dropped || journalSlot.value === ZERO_HASH)) continue
    changed ??= new Map()
    changed.set(key, { before: journalSlot.base, after: journalSlot.value })
  }
  return changed
}
