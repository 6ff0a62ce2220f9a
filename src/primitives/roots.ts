import { finishSlicedWork, partCounter, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { freeLarge, type Hex } from '@tandem/base/bytes.ts'
import { orderedRoot, orderedRootParts } from '../crypto/ordered-root.ts'
import { encodeReceipt, type Receipt } from './receipt/receipt.ts'
import type { DecodedTransaction } from './transaction/transaction.ts'

/** Root of the trie of a block's transactions by index (Yellow Paper 4.3.2). */
export const transactionsRoot = (transactions: readonly Pick<DecodedTransaction, 'raw'>[]): Hex =>
  orderedRoot(transactions.map(transaction => transaction.raw))

/** The same in parts: a block may have tens of thousands. */
export const transactionsRootParts = (transactions: readonly Pick<DecodedTransaction, 'raw'>[]): SlicedWork<Hex> =>
  orderedRootParts(transactions.map(transaction => transaction.raw))

/** Root of the trie of a block's receipts by index. */
export const receiptsRoot = (receipts: readonly Receipt[]): Hex => finishSlicedWork(receiptsRootParts(receipts))

/** The same in parts: the receipts of a block may be 40 MB. */
export function* receiptsRootParts(receipts: readonly Receipt[]): SlicedWork<Hex> {
  const partEnds = partCounter()
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const bytes = encodeReceipt(receipt)
    encoded.push(bytes)
    if (partEnds(bytes.byteLength)) yield
  }
  const root = yield* orderedRootParts(encoded)
  freeLarge(encoded)
  return root
}
