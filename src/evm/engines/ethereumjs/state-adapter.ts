import type { AccountFields, StateManagerInterface } from '@ethereumjs/common'
import { Account, type Address } from '@ethereumjs/util'
import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, trimZeros, ZERO_HASH } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { EMPTY_ROOT } from '../../../state/account.ts'
import type { Journal } from '../../../state/journal/journal.ts'
import type { Prefetcher } from '../../prefetched-reader.ts'

/** EthereumJS stores words without leading zeros; zero is empty. */
const shortWord = (word: Hex): Uint8Array => (word === ZERO_HASH ? EMPTY_BYTES : trimZeros(hexToBytes(word)))

const wordFrom = (bytes: Uint8Array): Hex => `0x${bytesToHex(bytes).slice(2).padStart(64, '0')}`

/** Adapter of a journal, checkpoints too, to EthereumJS' state interface; functions of the trie, its roots and proofs are rejected. */
export class EthereumJsStateAdapter implements StateManagerInterface {
  #journal: Journal | undefined = undefined
  readonly #marks: number[] = []
  /** Set where the journal's base cannot be read synchronously. */
  prefetch: Prefetcher | undefined = undefined

  /** Word at the start of the transaction (EIP-2200). */
  readonly originalStorageCache = {
    get: async (address: Address, key: Uint8Array): Promise<Uint8Array> => {
      const [owner, slot] = [bytesToHex(address.bytes), bytesToHex(key)]
      await this.prefetch?.slot(owner, slot)
      return shortWord(this.journal.originalStorage(owner, slot))
    },
    clear: () => {},
  }

  get journal(): Journal {
    assert(this.#journal !== undefined, 'a journal is attached while a message runs')
    return this.#journal
  }

  attach(journal: Journal, prefetch?: Prefetcher): void {
    this.#journal = journal
    this.prefetch = prefetch
    this.#marks.length = 0
  }

  detach(): void {
    this.#journal = undefined
    this.prefetch = undefined
  }

  async getAccount(address: Address): Promise<Account | undefined> {
    const key = bytesToHex(address.bytes)
    const loading = this.prefetch?.account(key)
    if (loading !== undefined) await loading
    const account = this.journal.account(key)
    if (account === undefined) return undefined
    const { nonce, balance, storageRoot, codeHash } = account
    return new Account(BigInt(nonce), balance, hexToBytes(storageRoot), hexToBytes(codeHash))
  }

  /** Code and storage have their own calls: only nonce and balance of an account are written. */
  async putAccount(address: Address, account?: Account): Promise<void> {
    const key = bytesToHex(address.bytes)
    await this.prefetch?.account(key)
    if (account === undefined) this.journal.deleteAccount(key)
    else this.#write(key, account.nonce, account.balance)
  }

  async modifyAccountFields(address: Address, fields: AccountFields): Promise<void> {
    const key = bytesToHex(address.bytes)
    await this.prefetch?.account(key)
    this.#write(key, fields.nonce ?? BigInt(this.journal.nonce(key)), fields.balance ?? this.journal.balance(key))
  }

  async deleteAccount(address: Address): Promise<void> {
    const key = bytesToHex(address.bytes)
    await this.prefetch?.account(key)
    this.journal.deleteAccount(key)
  }

  async putCode(address: Address, code: Uint8Array): Promise<void> {
    const key = bytesToHex(address.bytes)
    await this.prefetch?.account(key)
    this.journal.setCode(key, code)
  }

  async getCode(address: Address): Promise<Uint8Array> {
    const key = bytesToHex(address.bytes)
    const loading = this.prefetch?.code(key)
    if (loading !== undefined) await loading
    return this.journal.code(key)
  }

  async getCodeSize(address: Address): Promise<number> {
    return (await this.getCode(address)).byteLength
  }

  async getStorage(address: Address, key: Uint8Array): Promise<Uint8Array> {
    const [owner, slot] = [bytesToHex(address.bytes), bytesToHex(key)]
    await this.prefetch?.slot(owner, slot)
    return shortWord(this.journal.storage(owner, slot))
  }

  async putStorage(address: Address, key: Uint8Array, value: Uint8Array): Promise<void> {
    const [owner, slot] = [bytesToHex(address.bytes), bytesToHex(key)]
    await this.prefetch?.slot(owner, slot)
    this.journal.setStorage(owner, slot, wordFrom(value))
  }

  /** Called for the account a creation is about to fill: nonce and code become empty, the balance stays. */
  async clearStorage(address: Address): Promise<void> {
    const key = bytesToHex(address.bytes)
    await this.prefetch?.account(key)
    this.journal.createAccount(key)
  }

  async checkpoint(): Promise<void> {
    this.#marks.push(this.journal.checkpoint())
  }

  async commit(): Promise<void> {
    this.#marks.pop()
  }

  async revert(): Promise<void> {
    const mark = this.#marks.pop()
    assert(mark !== undefined, 'a revert has its checkpoint')
    this.journal.revert(mark)
  }

  clearCaches(): void {}

  /** The VM calls it for each receipt before Byzantium, whose root is set afterwards (block/block-run.ts): a journal has no root. */
  async getStateRoot(): Promise<Uint8Array> {
    return hexToBytes(EMPTY_ROOT)
  }

  async setStateRoot(): Promise<void> {
    throw new Error('the journal has no root')
  }

  async hasStateRoot(): Promise<boolean> {
    return false
  }

  shallowCopy(): StateManagerInterface {
    throw new Error('a journal is not copied')
  }

  #write(key: Hex, nonce: bigint, balance: bigint): void {
    const { journal } = this
    journal.touch(key)
    // Setting the balance also creates a missing account.
    if (balance !== journal.balance(key) || !journal.exists(key)) journal.setBalance(key, balance)
    if (nonce !== BigInt(journal.nonce(key))) journal.setNonce(key, uint64FromBigint(nonce))
  }
}
