import { orderedRoot } from '../crypto/ordered-root.ts'
import type { Hex } from '../util/bytes.ts'
import { encodeReceipt, type Receipt } from './receipt/receipt.ts'
import type { DecodedTransaction } from './transaction/transaction.ts'

/** Root of the trie of a block's transactions by index (Yellow Paper 4.3.2). */
export const transactionsRoot = (transactions: readonly Pick<DecodedTransaction, 'raw'>[]): Hex =>
  orderedRoot(transactions.map(transaction => transaction.raw))

/** Root of the trie of a block's receipts by index. */
export const receiptsRoot = (receipts: readonly Receipt[]): Hex => orderedRoot(receipts.map(encodeReceipt))
