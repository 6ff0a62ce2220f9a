import { createTxFromRLP, type TxOptions, type TypedTransaction } from '@ethereumjs/tx'
import { Address, KECCAK256_NULL } from '@ethereumjs/util'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import { encodeTransaction } from '../../../primitives/transaction/transaction-encoding.ts'
import type { EthereumJsStateAdapter } from './state-adapter.ts'

/*
 * Transactions of impersonated accounts (primitives/transaction/impersonation.ts) for the VM of EthereumJS, which requires a well-formed
 * signature and rejects senders with code.
 */

const STAND_IN = { yParity: 0, r: Uint8Array.of(1), s: Uint8Array.of(1) } as const

/** Returns the library's transaction with a signature that it accepts; the sender must be set separately. */
export const unsignedLibraryTransaction = (tx: Transaction, options: TxOptions): TypedTransaction =>
  createTxFromRLP(encodeTransaction(tx, STAND_IN).raw, options)

/** Hides the account's code at the next read: EIP-3607 does not apply to impersonated accounts. */
export const hideCodeOnce = (state: EthereumJsStateAdapter, sender: Hex): void => {
  const { getAccount } = state
  const address = new Address(hexToBytes(sender))
  state.getAccount = async asked => {
    const account = await getAccount.call(state, asked)
    if (!asked.equals(address)) return account
    state.getAccount = getAccount
    if (account !== undefined) account.codeHash = KECCAK256_NULL
    return account
  }
}
