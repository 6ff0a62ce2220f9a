import {
  type BlockRecord,
  counterpartOf,
  type FailedExecution,
  INTERNAL_KINDS,
  type InternalRecord,
  type ProofRecord,
  TOKEN_STANDARDS,
  TRANSACTION_KINDS,
  type TransactionRecord,
  type TransferRecord,
} from '../records.ts'
import { storedText } from '../stored-text.ts'
import type { SqlRow, SqlWrites } from './sql-database.ts'

/** Length of a cause of failure, or of the name of an algorithm. */
const NAME_CHARS = 128

/** Inserts the rows of blocks; `addTotals` updates the running sums. */
export const insertBlocks = async (writes: SqlWrites, records: readonly BlockRecord[]): Promise<void> => {
  await writes.insert('block', records.map(blockRow))
  await writes.insert(
    'tx',
    records.flatMap(({ number, transactions }) => transactions.map(transaction => transactionRow(number, transaction))),
  )
  await writes.insert(
    'transfer',
    records.flatMap(({ number, transfers }) => transfers.map(transfer => transferRow(number, transfer))),
  )
  await writes.insert(
    'internal',
    records.flatMap(({ number, internal }) => internal.map(transfer => internalRow(number, transfer))),
  )
  await writes.insert(
    'failed',
    records.flatMap(({ number, failed }) => failed.map(execution => failedRow(number, execution))),
  )
  await writes.insert(
    'proof',
    records.flatMap(({ number, proofs }) => proofs.map(proof => proofRow(number, proof))),
  )
}

const blockRow = (record: BlockRecord): SqlRow => ({
  number: record.number,
  hash: record.hash,
  parent: record.parentHash,
  timestamp: record.timestamp,
  proposer: record.proposer,
  miner: record.miner,
  transactions: record.transactions.length,
  gas_used: record.gasUsed.toString(),
  gas_limit: record.gasLimit.toString(),
  base_fee: record.baseFeePerGas.toString(),
  size: record.size,
  fees: record.feesWei.toString(),
  burnt: record.burntWei.toString(),
  minted: record.mintedWei.toString(),
  proposer_wei: record.proposerWei.toString(),
  miner_wei: record.minerWei.toString(),
  miner_credits: record.minerCredits.map(({ address, amountWei }) => `${address}:${amountWei}`).join(' '),
  cycle: record.cycle,
})

const transactionRow = (block: number, transaction: TransactionRecord): SqlRow => ({
  block,
  idx: transaction.index,
  hash: transaction.hash,
  sender: transaction.from,
  recipient: transaction.to,
  created: transaction.created,
  party: counterpartOf(transaction),
  value: transaction.value.toString(),
  gas: transaction.gas.toString(),
  gas_used: transaction.gasUsed.toString(),
  gas_price: transaction.gasPrice.toString(),
  nonce: transaction.nonce,
  type: transaction.type,
  status: transaction.status,
  kind: TRANSACTION_KINDS.indexOf(transaction.kind),
  method: transaction.methodId,
})

const transferRow = (block: number, transfer: TransferRecord): SqlRow => ({
  block,
  log: transfer.logIndex,
  place: transfer.position,
  idx: transfer.transactionIndex,
  standard: TOKEN_STANDARDS.indexOf(transfer.standard),
  token: transfer.token,
  sender: transfer.from,
  recipient: transfer.to,
  amount: transfer.amount.toString(),
  token_id: transfer.tokenId === null ? null : transfer.tokenId.toString(),
})

const internalRow = (block: number, transfer: InternalRecord): SqlRow => ({
  block,
  idx: transfer.transactionIndex,
  place: transfer.position,
  kind: INTERNAL_KINDS.indexOf(transfer.kind),
  sender: transfer.from,
  recipient: transfer.to,
  value: transfer.value.toString(),
})

const failedRow = (block: number, { transactionIndex, error, output }: FailedExecution): SqlRow => ({
  block,
  idx: transactionIndex,
  error: storedText(error, NAME_CHARS),
  output,
})

const proofRow = (block: number, proof: ProofRecord): SqlRow => ({
  height: proof.height,
  block,
  hash: proof.id,
  miner: proof.miner,
  timestamp: proof.timestamp,
  difficulty: proof.difficulty.toString(),
  nonce: proof.nonce,
  algorithm: storedText(proof.algorithm, NAME_CHARS),
})
