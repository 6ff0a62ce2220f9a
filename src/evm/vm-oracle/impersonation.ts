import { createTxFromRLP, type TxOptions, type TypedTransaction } from '@ethereumjs/tx'
import { Address, KECCAK256_NULL } from '@ethereumjs/util'
import type { Transaction } from '../../primitives/transaction.ts'
import { encodeTransaction } from '../../primitives/transaction-encoding.ts'
import { type Hex, hexToBytes } from '../../util/bytes.ts'
import type { EthereumJsStateAdapter } from '../engines/state-adapter.ts'

/*
 * Transactions of accounts whose key nobody has (primitives/impersonation.ts), as the VM of EthereumJS takes them: it insists on a
 * signature of the right form, and refuses senders with code.
 */

const STAND_IN = { yParity: 0, r: Uint8Array.of(1), s: Uint8Array.of(1) } as const

/** The library's own transaction with a signature that it does not object to; the sender must be given to it. */
export const unsignedLibraryTransaction = (tx: Transaction, options: TxOptions): TypedTransaction =>
  createTxFromRLP(encodeTransaction(tx, STAND_IN).raw, options)

/** The next look at the account shows it without code: EIP-3607 is not for those who are impersonated. */
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
