import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../account.ts'

/** Storage word in a journal: current, at the start of its transaction, and at the start of the block. */
export class JournalSlot {
  value: Hex
  /** Value at the start of transaction `originalIn`; stale when that is not the current one. */
  original: Hex
  originalIn = 0
  readonly base: Hex

  constructor(base: Hex, value: Hex) {
    this.base = base
    this.value = value
    this.original = value
  }
}

/** Account in a journal. `base` is the account at the start of the block. */
export class JournalAccount {
  readonly address: Hex
  readonly base: Account | undefined
  /** False when `base` has no slots. */
  readonly #hadStorage: boolean
  exists: boolean
  nonce: Nonce
  balance: bigint
  codeHash: Hex
  /** undefined: not read yet. */
  code: Uint8Array | undefined = undefined
  slots: Map<Hex, JournalSlot> | undefined = undefined
  /** The storage of `base` is gone: `slots` is complete. */
  cleared = false
  /** Last transaction that touched it (EIP-158). */
  touchedIn = 0
  /** Cached result of `account()` until the next change. */
  view: Account | undefined

  constructor(address: Hex, base: Account | undefined, hadStorage: boolean) {
    this.address = address
    this.base = base
    this.#hadStorage = hadStorage
    this.view = base
    this.exists = base !== undefined
    this.nonce = base?.nonce ?? 0
    this.balance = base?.balance ?? 0n
    this.codeHash = base?.codeHash ?? EMPTY_CODE_HASH
  }

  toAccount(): Account | undefined {
    if (!this.exists) return undefined
    const storageRoot = this.cleared ? EMPTY_ROOT : (this.base?.storageRoot ?? EMPTY_ROOT)
    this.view ??= { nonce: this.nonce, balance: this.balance, codeHash: this.codeHash, storageRoot }
    return this.view
  }

  /** True without nonce, balance and code (EIP-161); storage does not count. */
  isEmpty(): boolean {
    return this.nonce === 0 && this.balance === 0n && this.codeHash === EMPTY_CODE_HASH
  }

  sameFieldsAsBase(): boolean {
    const { base } = this
    if (base === undefined) return !this.exists
    return this.exists && this.nonce === base.nonce && this.balance === base.balance && this.codeHash === base.codeHash
  }

  /** True when the base account's storage is gone. */
  droppedStorage(): boolean {
    return this.cleared && this.#hadStorage
  }

  /** True when it has slots; where some of `base` remain, also when all of them became zero. */
  hasStorage(): boolean {
    if (!this.cleared && this.#hadStorage) return true
    return [...(this.slots?.values() ?? [])].some(({ value }) => value !== ZERO_HASH)
  }
}
