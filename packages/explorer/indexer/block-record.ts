import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { BlockExtras, ExecutedBlock } from '../chain/block-extras.ts'
import type { Receipt, Transaction } from '../chain/types.ts'
import type {
  BlockInternalTransfer,
  BlockRecord,
  InternalRecord,
  TransactionKind,
  TransactionRecord,
  TransferRecord,
} from '../store/records.ts'
import { transfersFromLogs } from './token-logs.ts'

/** Index record of a committed block. */
export const recordOfBlock = (
  { block, receipts }: ExecutedBlock,
  { shares, internal, failed, proofs }: BlockExtras,
): BlockRecord => {
  const transfers = transfersOf(receipts)
  const moving = new Set(transfers.map(({ transactionIndex }) => transactionIndex))
  const { number, hash, parentHash, timestamp, proposer, miner, gasUsed, gasLimit, baseFeePerGas, size } = block
  return {
    ...{ number, hash, parentHash, timestamp, proposer, miner, gasUsed, gasLimit, baseFeePerGas, size },
    ...shares,
    transactions: block.transactions.map((transaction, index) =>
      recordOfTransaction(transaction, index, receipts[index] as Receipt, moving.has(index)),
    ),
    transfers,
    internal: withPositions(internal),
    failed,
    proofs,
  }
}

/** Height of the last proof header up to the last of the records; `before` is that before them. */
export const proofHeightAfter = (records: readonly BlockRecord[], before: number): number =>
  records.reduce((height, { proofs }) => proofs.at(-1)?.height ?? height, before)

/** Numbers the transfers of each transaction. */
const withPositions = (transfers: readonly BlockInternalTransfer[]): readonly InternalRecord[] => {
  const counts = new Map<number, number>()
  return transfers.map(transfer => {
    const position = counts.get(transfer.transactionIndex) ?? 0
    counts.set(transfer.transactionIndex, position + 1)
    return { ...transfer, position }
  })
}

export const recordOfTransaction = (
  transaction: Transaction,
  index: number,
  receipt: Receipt,
  movesTokens: boolean,
): TransactionRecord => {
  const { to, nonce } = transaction
  const status = receipt.status ?? 1
  return {
    index,
    hash: transaction.hash,
    from: transaction.from,
    to,
    created: status === 1 ? receipt.contractAddress : null,
    value: transaction.value,
    gas: transaction.gasLimit,
    gasUsed: receipt.gasUsed,
    gasPrice: receipt.effectiveGasPrice,
    // Only a genesis puts an account beyond what numbers count exactly.
    nonce: typeof nonce === 'number' ? nonce : Number.MAX_SAFE_INTEGER,
    type: transaction.type,
    status,
    kind: kindOf(transaction, movesTokens),
    methodId: methodIdOf(transaction),
  }
}

const kindOf = ({ to, data }: Transaction, movesTokens: boolean): TransactionKind => {
  if (to === null) return 'create'
  if (movesTokens) return 'token'
  return data.byteLength > 0 ? 'call' : 'transfer'
}

const METHOD_BYTES = 4

const methodIdOf = ({ to, data }: Transaction): Hex | null =>
  to === null || data.byteLength < METHOD_BYTES ? null : bytesToHex(data.subarray(0, METHOD_BYTES))

const transfersOf = (receipts: readonly Receipt[]): readonly TransferRecord[] => {
  const transfers: TransferRecord[] = []
  let logIndex = 0
  receipts.forEach(({ logs }, transactionIndex) => {
    for (const log of logs) {
      transfersFromLogs(log).forEach((movement, position) => {
        transfers.push({ ...movement, token: log.address, logIndex, position, transactionIndex })
      })
      logIndex++
    }
  })
  return transfers
}
