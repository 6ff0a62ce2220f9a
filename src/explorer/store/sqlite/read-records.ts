import type { BlockRecord, InternalRecord, ProofRecord, TransactionRecord, TransferRecord } from '../records.ts'
import { numberColumn, type SqliteDatabase } from './database.ts'
import { SELECT_INTERNAL, SELECT_TRANSACTION, SELECT_TRANSFER } from './lists.ts'
import { toBlockRow, toInternalRow, toProofRow, toTransactionRow, toTransferRow } from './rows.ts'

/** Yields blocks as they were appended, from their rows; both ends included. */
export function* readRecords(database: SqliteDatabase, from: number, to: number): Generator<BlockRecord> {
  const rows = database.all('SELECT number FROM block WHERE number BETWEEN ? AND ? ORDER BY number', from, to)
  for (const row of rows) {
    const number = numberColumn(row, 'number')
    const [block] = database.all('SELECT * FROM block WHERE number = ?', number).map(toBlockRow)
    const transactions = database.all(`${SELECT_TRANSACTION} WHERE tx.block = ? ORDER BY tx.idx`, number)
    const transfers = database.all(`${SELECT_TRANSFER} WHERE t.block = ? ORDER BY t.log, t.place`, number)
    const internal = database.all(`${SELECT_INTERNAL} WHERE i.block = ? ORDER BY i.idx, i.place`, number)
    const proofs = database.all('SELECT * FROM proof WHERE block = ? ORDER BY height', number)
    yield {
      ...(block as Omit<BlockRecord, 'transactions' | 'transfers' | 'internal' | 'proofs'>),
      transactions: transactions.map((transaction): TransactionRecord => toTransactionRow(transaction)),
      transfers: transfers.map((transfer): TransferRecord => toTransferRow(transfer)),
      internal: internal.map((transfer): InternalRecord => toInternalRow(transfer)),
      proofs: proofs.map((proof): ProofRecord => toProofRow(proof)),
    }
  }
}
