import { EMPTY_BYTES, type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../src/state/account.ts'
import type { StateReader } from '../../../src/state/state-reader.ts'
import type { StateChanges } from '../../../src/state/update/state-update.ts'

export const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`
export const word = (n: number | bigint): Hex => toWord(BigInt(n))
/** Stands for the root of storage that is not empty, where no trie computes one. */
export const SOME_ROOT: Hex = `0x${'5e'.repeat(32)}`

export interface MemoryAccount {
  nonce: Nonce
  balance: bigint
  codeHash: Hex
  storage: Map<Hex, Hex>
}

export const memoryAccount = (fields: Partial<MemoryAccount> = {}): MemoryAccount => ({
  nonce: 0,
  balance: 0n,
  codeHash: EMPTY_CODE_HASH,
  storage: new Map(),
  ...fields,
})

/** State in plain maps, copied whole: what the real thing is compared with. */
export class MemoryState implements StateReader {
  readonly accounts: Map<Hex, MemoryAccount>
  readonly codes: Map<Hex, Uint8Array>
  /** Set where the words do not change without it. */
  storageVersion?: number

  constructor(accounts = new Map<Hex, MemoryAccount>(), codes = new Map<Hex, Uint8Array>()) {
    this.accounts = accounts
    this.codes = codes
  }

  copy(): MemoryState {
    const accounts = new Map<Hex, MemoryAccount>()
    for (const [key, account] of this.accounts) accounts.set(key, { ...account, storage: new Map(account.storage) })
    return new MemoryState(accounts, this.codes)
  }

  account(key: Hex): Account | undefined {
    const found = this.accounts.get(key)
    if (found === undefined) return undefined
    const { nonce, balance, codeHash, storage } = found
    return { nonce, balance, codeHash, storageRoot: storage.size > 0 ? SOME_ROOT : EMPTY_ROOT }
  }

  storage(key: Hex, slot: Hex): Hex {
    return this.accounts.get(key)?.storage.get(slot) ?? ZERO_HASH
  }

  code(key: Hex): Uint8Array {
    return this.codes.get(this.accounts.get(key)?.codeHash ?? EMPTY_CODE_HASH) ?? EMPTY_BYTES
  }

  /** A copy with a block's changes. */
  with(changes: StateChanges): MemoryState {
    const next = this.copy()
    for (const [key, { after }] of changes.accounts) {
      if (after === undefined) next.accounts.delete(key)
      else {
        const storage = next.accounts.get(key)?.storage ?? new Map()
        next.accounts.set(key, { nonce: after.nonce, balance: after.balance, codeHash: after.codeHash, storage })
      }
    }
    for (const key of changes.cleared ?? []) next.accounts.get(key)?.storage.clear()
    for (const [key, slots] of changes.storage) {
      for (const [slot, { after }] of slots) {
        if (after === ZERO_HASH) next.accounts.get(key)?.storage.delete(slot)
        else next.accounts.get(key)?.storage.set(slot, after)
      }
    }
    for (const [hash, code] of changes.code) next.codes.set(hash, code)
    return next
  }

  /** Comparable with toEqual. */
  plain(): unknown {
    return [...this.accounts]
      .map(([key, account]) => [key, { ...account, storage: [...account.storage].sort() }] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }
}
