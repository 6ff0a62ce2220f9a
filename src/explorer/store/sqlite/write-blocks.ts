import { INTERNAL_KINDS } from '../../../primitives/receipt/internal-transfer.ts'
import {
  type BlockRecord,
  counterpartOf,
  type InternalRecord,
  type ProofRecord,
  TOKEN_STANDARDS,
  TRANSACTION_KINDS,
  type TransactionRecord,
  type TransferRecord,
} from '../records.ts'
import { blobOf, blobOrNull, type SqliteDatabase } from './database.ts'

const INSERT_BLOCK = `INSERT INTO block (number, hash, parent, timestamp, proposer, miner, transactions, gas_used, gas_limit, base_fee, size,
  fees, burnt, minted, proposer_wei, miner_wei) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_TRANSACTION = `INSERT INTO tx (block, idx, hash, sender, recipient, created, party, value, gas, gas_used, gas_price, nonce, type,
  status, kind, method) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_TRANSFER = `INSERT INTO transfer (block, log, place, idx, standard, token, sender, recipient, amount, token_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_INTERNAL = `INSERT INTO internal (block, idx, place, kind, sender, recipient, value) VALUES (?, ?, ?, ?, ?, ?, ?)`
const INSERT_PROOF = `INSERT INTO proof (height, block, hash, miner, timestamp, difficulty, nonce, algorithm)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

/** Inserts the rows of one block; `addTotals` updates the running sums. */
export const insertBlock = (database: SqliteDatabase, record: BlockRecord): void => {
  database.run(
    INSERT_BLOCK,
    record.number,
    blobOf(record.hash),
    blobOf(record.parentHash),
    record.timestamp,
    blobOf(record.proposer),
    blobOf(record.miner),
    record.transactions.length,
    record.gasUsed.toString(),
    record.gasLimit.toString(),
    record.baseFeePerGas.toString(),
    record.size,
    record.feesWei.toString(),
    record.burntWei.toString(),
    record.mintedWei.toString(),
    record.proposerWei.toString(),
    record.minerWei.toString(),
  )
  for (const transaction of record.transactions) insertTransaction(database, record.number, transaction)
  for (const transfer of record.transfers) insertTransfer(database, record.number, transfer)
  for (const transfer of record.internal) insertInternal(database, record.number, transfer)
  for (const proof of record.proofs) insertProof(database, record.number, proof)
}

const insertTransaction = (database: SqliteDatabase, block: number, transaction: TransactionRecord): void => {
  database
    .statement(INSERT_TRANSACTION)
    .run(
      block,
      transaction.index,
      blobOf(transaction.hash),
      blobOf(transaction.from),
      blobOrNull(transaction.to),
      blobOrNull(transaction.created),
      blobOrNull(counterpartOf(transaction)),
      transaction.value.toString(),
      transaction.gas.toString(),
      transaction.gasUsed.toString(),
      transaction.gasPrice.toString(),
      transaction.nonce,
      transaction.type,
      transaction.status,
      TRANSACTION_KINDS.indexOf(transaction.kind),
      blobOrNull(transaction.methodId),
    )
}

const insertTransfer = (database: SqliteDatabase, block: number, transfer: TransferRecord): void => {
  database
    .statement(INSERT_TRANSFER)
    .run(
      block,
      transfer.logIndex,
      transfer.position,
      transfer.transactionIndex,
      TOKEN_STANDARDS.indexOf(transfer.standard),
      blobOf(transfer.token),
      blobOf(transfer.from),
      blobOf(transfer.to),
      transfer.amount.toString(),
      transfer.tokenId === null ? null : transfer.tokenId.toString(),
    )
}

const insertInternal = (database: SqliteDatabase, block: number, transfer: InternalRecord): void => {
  const { transactionIndex, position, kind, from, to, value } = transfer
  database
    .statement(INSERT_INTERNAL)
    .run(block, transactionIndex, position, INTERNAL_KINDS.indexOf(kind), blobOf(from), blobOf(to), value.toString())
}

const insertProof = (database: SqliteDatabase, block: number, proof: ProofRecord): void => {
  const { height, id, miner, timestamp, difficulty, nonce, algorithm } = proof
  const values = [blobOf(id), blobOf(miner), timestamp, difficulty.toString(), blobOf(nonce), algorithm]
  database.statement(INSERT_PROOF).run(height, block, ...values)
}
