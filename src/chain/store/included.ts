import { assert } from '@tandem/base/assert.ts'
import type { Block } from '../../primitives/block.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { BlockStore } from './block-store.ts'
import type { IncludedReceipt, IncludedTransaction, StreamedReceipt, TransactionLocation } from './types.ts'

/** Returns a transaction of a decoded block with its position. */
export const includedTransactionFromBlock = (block: Block, index: number): IncludedTransaction => {
  const transaction = block.transactions[index]
  assert(transaction !== undefined, 'transaction index inside the block')
  const { number: blockNumber, timestamp: blockTimestamp, baseFeePerGas = 0n } = block.header
  return { transaction, blockHash: block.hash, blockNumber, blockTimestamp, index, baseFeePerGas }
}

/** Returns all receipts of a decoded block with their positions. */
export const includedReceiptsFromBlock = (block: Block, receipts: readonly Receipt[]): IncludedReceipt[] => {
  let firstLog = 0
  return receipts.map((receipt, index) => {
    const placed = { ...includedTransactionFromBlock(block, index), receipt, firstLog }
    firstLog += receipt.logs.length
    return placed
  })
}

/** Returns the receipts of a block as a stream: from the objects of a recent block, else from the block's rows. */
export const readReceiptStream = async (
  blocks: BlockStore,
  number: number,
): Promise<Iterable<StreamedReceipt> | undefined> => {
  const recent = blocks.recent(number)
  if (recent === undefined) return (await blocks.stored(number))?.receiptStream()
  return includedReceiptsFromBlock(recent.block, recent.receipts).map(streamedReceipt)
}

/** Returns a decoded receipt in the form of a streamed one. */
export const streamedReceipt = (placed: IncludedReceipt): StreamedReceipt => ({
  ...placed,
  logs: placed.receipt.logs,
  bloom: () => placed.receipt.logsBloom,
})

/** Reads one transaction: from the objects of a recent block, else from the block's rows. */
export const readIncludedTransaction = async (
  blocks: BlockStore,
  { number, index }: TransactionLocation,
): Promise<IncludedTransaction | undefined> => {
  const recent = blocks.recent(number)
  return recent ? includedTransactionFromBlock(recent.block, index) : (await blocks.stored(number))?.transaction(index)
}

/** Reads one receipt in the same way. */
export const readIncludedReceipt = async (
  blocks: BlockStore,
  { number, index }: TransactionLocation,
): Promise<IncludedReceipt | undefined> => {
  const recent = blocks.recent(number)
  if (recent === undefined) return (await blocks.stored(number))?.receipt(index)
  const receipt = recent.receipts[index]
  assert(receipt !== undefined, 'a block has one receipt for each transaction')
  let firstLog = 0
  for (let i = 0; i < index; i++) firstLog += recent.receipts[i]?.logs.length ?? 0
  return { ...includedTransactionFromBlock(recent.block, index), receipt, firstLog }
}
