import type { Hex } from '@tandem/base/bytes.ts'
import type { Journal } from '../../../src/state/journal/journal.ts'

/** Slots and words are 32-byte hex. */
export interface Allocation {
  readonly address: Hex
  readonly balance: bigint
  readonly nonce?: number
  readonly code?: Uint8Array
  readonly storage?: Iterable<readonly [slot: Hex, word: Hex]>
}

/** Puts allocations into a journal, to be committed as block 0. */
export const allocate = (journal: Journal, allocations: Iterable<Allocation>): void => {
  for (const { address, balance, nonce = 0, code, storage = [] } of allocations) {
    journal.setBalance(address, balance)
    if (nonce > 0) journal.setNonce(address, nonce)
    if (code !== undefined && code.byteLength > 0) journal.setCode(address, code)
    for (const [slot, word] of storage) journal.setStorage(address, slot, word)
  }
  journal.endTransaction()
}
