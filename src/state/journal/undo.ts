import type { Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import type { JournalAccount, JournalSlot } from './journal-account.ts'

/** Change of a journal with the data to undo it. */
export type UndoEntry =
  | {
      readonly kind: 'balance'
      readonly journalAccount: JournalAccount
      readonly before: bigint
      readonly existed: boolean
    }
  | {
      readonly kind: 'nonce'
      readonly journalAccount: JournalAccount
      readonly before: Nonce
      readonly existed: boolean
    }
  | {
      readonly kind: 'code'
      readonly journalAccount: JournalAccount
      readonly before: Uint8Array | undefined
      readonly beforeHash: Hex
      readonly existed: boolean
    }
  | {
      readonly kind: 'storage'
      readonly journalSlot: JournalSlot
      readonly before: Hex
      /** Of the storage before the change. */
      readonly version: number | undefined
    }
  | { readonly kind: 'touch'; readonly journalAccount: JournalAccount; readonly before: number }
  | {
      readonly kind: 'reset'
      readonly journalAccount: JournalAccount
      readonly version: number | undefined
      readonly before: Pick<JournalAccount, 'exists' | 'nonce' | 'balance' | 'codeHash' | 'code' | 'slots' | 'cleared'>
    }

/** The RIPEMD-160 precompile stays touched by a failed call: mainnet's history at block 2,675,119 made that a rule (EIP-161). */
const RIPEMD: Hex = `0x${'00'.repeat(19)}03`

export const applyUndo = (change: UndoEntry): void => {
  switch (change.kind) {
    case 'storage':
      change.journalSlot.value = change.before
      return
    case 'touch':
      if (change.journalAccount.address !== RIPEMD) change.journalAccount.touchedIn = change.before
      return
    case 'balance':
      change.journalAccount.balance = change.before
      change.journalAccount.exists = change.existed
      break
    case 'nonce':
      change.journalAccount.nonce = change.before
      change.journalAccount.exists = change.existed
      break
    case 'code':
      change.journalAccount.code = change.before
      change.journalAccount.codeHash = change.beforeHash
      change.journalAccount.exists = change.existed
      break
    case 'reset':
      Object.assign(change.journalAccount, change.before)
      break
  }
  change.journalAccount.view = undefined
}
