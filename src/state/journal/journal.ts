import { keccak256 } from '../../crypto/hash.ts'
import { assert } from '../../util/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, ZERO_HASH } from '../../util/bytes.ts'
import type { Nonce } from '../../util/nonce.ts'
import { type Account, EMPTY_CODE_HASH } from '../account.ts'
import type { StateReader } from '../state-reader.ts'
import type { StateChanges } from '../update/state-changes.ts'
import { collectChanges } from './collect-changes.ts'
import { Entry, Slot } from './journal-account.ts'
import { type Undo, undo } from './undo.ts'

/**
 * The working state of a block under construction over a base that does not change meanwhile. Synchronous. Every change can be
 * undone back to a checkpoint of the running transaction; `endTransaction` makes what stands permanent for the block.
 */
export class Journal implements StateReader {
  readonly #base: StateReader
  readonly #entries = new Map<Hex, Entry>()
  readonly #codes = new Map<Hex, Uint8Array>()
  readonly #touched: Entry[] = []
  #undo: Undo[] = []
  #transaction = 1

  constructor(base: StateReader) {
    this.#base = base
  }

  account(address: Hex): Account | undefined {
    return this.#entry(address).toAccount()
  }

  /** Wei; zero where there is no account. */
  balance(address: Hex): bigint {
    return this.#entry(address).balance
  }

  nonce(address: Hex): Nonce {
    return this.#entry(address).nonce
  }

  /** EMPTY_CODE_HASH also where there is no account: ask `exists` where that matters (EXTCODEHASH). */
  codeHash(address: Hex): Hex {
    return this.#entry(address).codeHash
  }

  code(address: Hex): Uint8Array {
    const entry = this.#entry(address)
    if (entry.codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES
    // Code not set here is the base's: a changed hash always came with its code.
    entry.code ??= this.#codes.get(entry.codeHash) ?? this.#base.code(address)
    return entry.code
  }

  storage(address: Hex, slot: Hex): Hex {
    return this.#slot(this.#entry(address), slot).value
  }

  /** The word at the start of the running transaction (EIP-2200). */
  originalStorage(address: Hex, slot: Hex): Hex {
    const found = this.#slot(this.#entry(address), slot)
    return found.originalIn === this.#transaction ? found.original : found.value
  }

  exists(address: Hex): boolean {
    return this.#entry(address).exists
  }

  /** No account, or one without nonce, balance and code (EIP-161). */
  isEmpty(address: Hex): boolean {
    return this.#entry(address).isEmpty()
  }

  /** Creates the account if there is none. */
  setBalance(address: Hex, balance: bigint): void {
    assert(balance >= 0n, 'a balance is not negative')
    const entry = this.#touch(this.#entry(address))
    this.#record({ kind: 'balance', entry, before: entry.balance, existed: entry.exists })
    entry.balance = balance
    entry.exists = true
    entry.view = undefined
  }

  addBalance(address: Hex, wei: bigint): void {
    this.setBalance(address, this.#entry(address).balance + wei)
  }

  /** The caller has checked that the balance suffices. */
  subBalance(address: Hex, wei: bigint): void {
    this.setBalance(address, this.#entry(address).balance - wei)
  }

  setNonce(address: Hex, nonce: Nonce): void {
    const entry = this.#touch(this.#entry(address))
    this.#record({ kind: 'nonce', entry, before: entry.nonce, existed: entry.exists })
    entry.nonce = nonce
    entry.exists = true
    entry.view = undefined
  }

  setCode(address: Hex, code: Uint8Array): void {
    const entry = this.#touch(this.#entry(address))
    this.#record({ kind: 'code', entry, before: entry.code, beforeHash: entry.codeHash, existed: entry.exists })
    entry.codeHash = code.byteLength === 0 ? EMPTY_CODE_HASH : bytesToHex(keccak256(code))
    entry.code = code
    entry.exists = true
    entry.view = undefined
    if (code.byteLength > 0) this.#codes.set(entry.codeHash, code)
  }

  /** Zero removes the slot. Creates the account if there is none. */
  setStorage(address: Hex, slot: Hex, word: Hex): void {
    const entry = this.#touch(this.#entry(address))
    if (!entry.exists) this.setNonce(address, entry.nonce)
    const found = this.#slot(entry, slot)
    if (found.value === word) return
    this.#record({ kind: 'storage', slot: found, before: found.value })
    if (found.originalIn !== this.#transaction) {
      found.original = found.value
      found.originalIn = this.#transaction
    }
    found.value = word
  }

  /** A new account at the address: nonce 0, no code, no storage; a balance that stands there is kept. */
  createAccount(address: Hex): void {
    const entry = this.#touch(this.#entry(address))
    this.#reset(entry, entry.balance, true)
  }

  /** Removes the account with all its storage; its balance is gone with it. */
  deleteAccount(address: Hex): void {
    const entry = this.#entry(address)
    if (entry.exists) this.#reset(entry, 0n, false)
  }

  /** Marks the account for the sweep of EIP-158 without changing it. Every setter does so too. */
  touch(address: Hex): void {
    this.#touch(this.#entry(address))
  }

  /** Deletes the empty accounts this transaction touched (EIP-161), at its end. */
  sweepTouched(): void {
    for (const entry of this.#touched) {
      if (entry.touchedIn === this.#transaction && entry.exists && entry.isEmpty()) this.#reset(entry, 0n, false)
    }
  }

  /** A mark to revert to; marks do not outlive their transaction. */
  checkpoint(): number {
    return this.#undo.length
  }

  revert(mark: number): void {
    assert(mark >= 0 && mark <= this.#undo.length, 'a checkpoint of the running transaction')
    for (let i = this.#undo.length - 1; i >= mark; i--) undo(this.#undo[i] as Undo)
    this.#undo.length = mark
  }

  /** Makes the transaction's changes part of the block and starts the next. */
  endTransaction(): void {
    this.#undo = []
    this.#touched.length = 0
    this.#transaction++
  }

  /** What differs from the base by now. Sealing needs the base to be the head. */
  changes(): StateChanges {
    return collectChanges(this.#entries.values(), this.#codes)
  }

  #entry(address: Hex): Entry {
    let entry = this.#entries.get(address)
    if (entry === undefined) {
      entry = new Entry(address, this.#base.account(address))
      this.#entries.set(address, entry)
    }
    return entry
  }

  #slot(entry: Entry, slot: Hex): Slot {
    entry.slots ??= new Map()
    let found = entry.slots.get(slot)
    if (found === undefined) {
      const base = entry.base === undefined ? ZERO_HASH : this.#base.storage(entry.address, slot)
      found = new Slot(base, entry.cleared ? ZERO_HASH : base)
      entry.slots.set(slot, found)
    }
    return found
  }

  #touch(entry: Entry): Entry {
    if (entry.touchedIn === this.#transaction) return entry
    this.#record({ kind: 'touch', entry, before: entry.touchedIn })
    entry.touchedIn = this.#transaction
    this.#touched.push(entry)
    return entry
  }

  #reset(entry: Entry, balance: bigint, exists: boolean): void {
    const { nonce, codeHash, code, slots, cleared } = entry
    this.#record({
      kind: 'reset',
      entry,
      before: { exists: entry.exists, nonce, balance: entry.balance, codeHash, code, slots, cleared },
    })
    entry.exists = exists
    entry.nonce = 0
    entry.balance = balance
    entry.codeHash = EMPTY_CODE_HASH
    entry.code = EMPTY_BYTES
    entry.slots = undefined
    entry.cleared = true
    entry.view = undefined
  }

  #record(change: Undo): void {
    this.#undo.push(change)
  }
}
