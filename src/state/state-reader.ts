import type { Hex } from '@tandem/base/bytes.ts'
import type { Account } from './account.ts'

/** Synchronous state at one block: the head, or one under construction. Addresses, slots, words: lower-case hex, full length. */
export interface StateReader {
  /** Number of the words of all accounts (`nextStorageVersion`); undefined: not known. */
  readonly storageVersion?: number
  account(address: Hex): Account | undefined
  /** 32-byte word; ZERO_HASH where nothing is stored. */
  storage(address: Hex, slot: Hex): Hex
  /** Empty for an account without code. */
  code(address: Hex): Uint8Array
  /** Calls `use` with the code, which may be gone afterwards: code that is only copied is no work for the garbage collector. */
  useCode?(address: Hex, use: (code: Uint8Array) => void): void
}

/** State at an older block, or from another thread. `release` closes its snapshot. */
export interface AsyncStateReader {
  account(address: Hex): Promise<Account | undefined>
  storage(address: Hex, slot: Hex): Promise<Hex>
  code(address: Hex): Promise<Uint8Array>
  release(): void
}

let last = 0

/** Returns a number that no storage of this thread has had: engines keep words from one message to the next while it is the same. */
export const nextStorageVersion = (): number => ++last
