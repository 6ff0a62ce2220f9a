import type { Hex } from '../../util/bytes.ts'
import type { Nonce } from '../../util/nonce.ts'
import type { Entry, Slot } from './journal-account.ts'

/** One change of a journal and what it takes to undo it. */
export type Undo =
  | { readonly kind: 'balance'; readonly entry: Entry; readonly before: bigint; readonly existed: boolean }
  | { readonly kind: 'nonce'; readonly entry: Entry; readonly before: Nonce; readonly existed: boolean }
  | {
      readonly kind: 'code'
      readonly entry: Entry
      readonly before: Uint8Array | undefined
      readonly beforeHash: Hex
      readonly existed: boolean
    }
  | { readonly kind: 'storage'; readonly slot: Slot; readonly before: Hex }
  | { readonly kind: 'touch'; readonly entry: Entry; readonly before: number }
  | {
      readonly kind: 'reset'
      readonly entry: Entry
      readonly before: Pick<Entry, 'exists' | 'nonce' | 'balance' | 'codeHash' | 'code' | 'slots' | 'cleared'>
    }

/** The RIPEMD-160 precompile stays touched by a call that failed: mainnet's history at block 2,675,119 made that a rule (EIP-161). */
const RIPEMD: Hex = `0x${'00'.repeat(19)}03`

export const undo = (change: Undo): void => {
  switch (change.kind) {
    case 'storage':
      change.slot.value = change.before
      return
    case 'touch':
      if (change.entry.address !== RIPEMD) change.entry.touchedIn = change.before
      return
    case 'balance':
      change.entry.balance = change.before
      change.entry.exists = change.existed
      break
    case 'nonce':
      change.entry.nonce = change.before
      change.entry.exists = change.existed
      break
    case 'code':
      change.entry.code = change.before
      change.entry.codeHash = change.beforeHash
      change.entry.exists = change.existed
      break
    case 'reset':
      Object.assign(change.entry, change.before)
      break
  }
  change.entry.view = undefined
}
