import type { BlockRecord } from '../records.ts'
import { SELECT_INTERNAL, SELECT_TRANSACTION, SELECT_TRANSFER } from './lists.ts'
import { toBlockRow, toFailedRow, toInternalRow, toProofRow, toTransactionRow, toTransferRow } from './rows.ts'
import type { SqlReads, SqlRow } from './sql-database.ts'

/** Blocks read at once. */
const CHUNK_BLOCKS = 256
const WITHIN = 'BETWEEN ? AND ?'

/** Yields blocks as they were appended, from their rows; both ends included. */
export async function* readRecords(reads: SqlReads, from: number, to: number): AsyncGenerator<BlockRecord> {
  for (let at = from; at <= to; at += CHUNK_BLOCKS) {
    const range = [at, Math.min(to, at + CHUNK_BLOCKS - 1)] as const
    const blocks = await reads.all('SELECT * FROM block WHERE number BETWEEN ? AND ? ORDER BY number', ...range)
    if (blocks.length === 0) return
    const rows = async <Row extends { readonly blockNumber: number }>(sql: string, toRow: (row: SqlRow) => Row) =>
      Map.groupBy((await reads.all(sql, ...range)).map(toRow), ({ blockNumber }) => blockNumber)
    const transactions = await rows(
      `${SELECT_TRANSACTION} WHERE tx.block ${WITHIN} ORDER BY tx.block, tx.idx`,
      toTransactionRow,
    )
    const transfers = await rows(
      `${SELECT_TRANSFER} WHERE t.block ${WITHIN} ORDER BY t.block, t.log, t.place`,
      toTransferRow,
    )
    const internal = await rows(
      `${SELECT_INTERNAL} WHERE i.block ${WITHIN} ORDER BY i.block, i.idx, i.place`,
      toInternalRow,
    )
    const failed = await rows(`SELECT * FROM failed WHERE block ${WITHIN} ORDER BY block, idx`, toFailedRow)
    const proofs = await rows(`SELECT * FROM proof WHERE block ${WITHIN} ORDER BY height`, toProofRow)
    for (const row of blocks) {
      const { transactionCount: _, ...block } = toBlockRow(row)
      yield {
        ...block,
        transactions: transactions.get(block.number) ?? [],
        transfers: transfers.get(block.number) ?? [],
        internal: internal.get(block.number) ?? [],
        failed: failed.get(block.number) ?? [],
        proofs: proofs.get(block.number) ?? [],
      }
    }
  }
}
