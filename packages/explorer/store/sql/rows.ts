import type { Hex } from '@tandem/base/bytes.ts'
import { balanceFromKey } from '../balance-key.ts'
import {
  INTERNAL_KINDS,
  type InternalTransfer,
  type MinerCredit,
  REWARD_ROLES,
  type RewardRole,
  TOKEN_STANDARDS,
  type TokenStandard,
  TRANSACTION_KINDS,
  type TransactionKind,
} from '../records.ts'
import { bigintColumn, hexColumn, hexOrNull, numberColumn, type SqlRow } from './sql-database.ts'

/* Conversions of table rows to records. */

const nullableText = (row: SqlRow, name: string): string | null => row[name] as string | null

/** Text column of `address:wei` pairs. */
const creditsColumn = (row: SqlRow): readonly MinerCredit[] =>
  String(row['miner_credits'])
    .split(' ')
    .filter(text => text !== '')
    .map(text => {
      const [address, wei] = text.split(':') as [Hex, string]
      return { address, amountWei: BigInt(wei) }
    })

export const toBlockRow = (row: SqlRow) => ({
  number: numberColumn(row, 'number'),
  hash: hexColumn(row, 'hash'),
  parentHash: hexColumn(row, 'parent'),
  timestamp: numberColumn(row, 'timestamp'),
  proposer: hexColumn(row, 'proposer'),
  miner: hexColumn(row, 'miner'),
  transactionCount: numberColumn(row, 'transactions'),
  gasUsed: bigintColumn(row, 'gas_used'),
  gasLimit: bigintColumn(row, 'gas_limit'),
  baseFeePerGas: bigintColumn(row, 'base_fee'),
  size: numberColumn(row, 'size'),
  feesWei: bigintColumn(row, 'fees'),
  burntWei: bigintColumn(row, 'burnt'),
  mintedWei: bigintColumn(row, 'minted'),
  proposerWei: bigintColumn(row, 'proposer_wei'),
  minerWei: bigintColumn(row, 'miner_wei'),
  minerCredits: creditsColumn(row),
  cycle: numberColumn(row, 'cycle'),
})

/** Block as its row has it. */
export type BlockRow = ReturnType<typeof toBlockRow>

export const toTransactionRow = (row: SqlRow) => ({
  blockNumber: numberColumn(row, 'block'),
  blockHash: hexColumn(row, 'block_hash'),
  timestamp: numberColumn(row, 'timestamp'),
  index: numberColumn(row, 'idx'),
  hash: hexColumn(row, 'hash'),
  from: hexColumn(row, 'sender'),
  to: hexOrNull(row, 'recipient'),
  created: hexOrNull(row, 'created'),
  value: bigintColumn(row, 'value'),
  gas: bigintColumn(row, 'gas'),
  gasUsed: bigintColumn(row, 'gas_used'),
  gasPrice: bigintColumn(row, 'gas_price'),
  nonce: numberColumn(row, 'nonce'),
  type: numberColumn(row, 'type'),
  status: numberColumn(row, 'status') as 0 | 1,
  kind: TRANSACTION_KINDS[numberColumn(row, 'kind')] as TransactionKind,
  methodId: hexOrNull(row, 'method'),
})

/** Transaction with its block. */
export type TransactionRow = ReturnType<typeof toTransactionRow>

export const toTransferRow = (row: SqlRow) => ({
  blockNumber: numberColumn(row, 'block'),
  timestamp: numberColumn(row, 'timestamp'),
  transactionHash: hexColumn(row, 'tx_hash'),
  logIndex: numberColumn(row, 'log'),
  position: numberColumn(row, 'place'),
  transactionIndex: numberColumn(row, 'idx'),
  standard: TOKEN_STANDARDS[numberColumn(row, 'standard')] as TokenStandard,
  token: hexColumn(row, 'token'),
  from: hexColumn(row, 'sender'),
  to: hexColumn(row, 'recipient'),
  amount: bigintColumn(row, 'amount'),
  tokenId: row['token_id'] === null ? null : bigintColumn(row, 'token_id'),
})

/** Token transfer with its block and transaction. */
export type TransferRow = ReturnType<typeof toTransferRow>

export const toInternalRow = (row: SqlRow) => ({
  blockNumber: numberColumn(row, 'block'),
  timestamp: numberColumn(row, 'timestamp'),
  transactionHash: hexColumn(row, 'tx_hash'),
  transactionIndex: numberColumn(row, 'idx'),
  position: numberColumn(row, 'place'),
  kind: INTERNAL_KINDS[numberColumn(row, 'kind')] as InternalTransfer['kind'],
  from: hexColumn(row, 'sender'),
  to: hexColumn(row, 'recipient'),
  value: bigintColumn(row, 'value'),
})

/** Internal transfer with its block and transaction. */
export type InternalRow = ReturnType<typeof toInternalRow>

export const toFailedRow = (row: SqlRow) => ({
  blockNumber: numberColumn(row, 'block'),
  transactionIndex: numberColumn(row, 'idx'),
  error: row['error'] as string,
  output: new Uint8Array(row['output'] as Uint8Array) as Uint8Array,
})

export const toProofRow = (row: SqlRow) => ({
  blockNumber: numberColumn(row, 'block'),
  height: numberColumn(row, 'height'),
  id: hexColumn(row, 'hash'),
  miner: hexColumn(row, 'miner'),
  timestamp: numberColumn(row, 'timestamp'),
  difficulty: bigintColumn(row, 'difficulty'),
  nonce: hexColumn(row, 'nonce'),
  algorithm: row['algorithm'] as string,
})

/** Proof header with the block that made it final. */
export type ProofRow = ReturnType<typeof toProofRow>

export const toAccountRow = (row: SqlRow) => ({
  address: hexColumn(row, 'address'),
  transactions: numberColumn(row, 'transactions'),
  sent: numberColumn(row, 'sent'),
  received: numberColumn(row, 'received'),
  transfers: numberColumn(row, 'transfers'),
  internal: numberColumn(row, 'internal'),
  isContract: numberColumn(row, 'is_contract') === 1,
  creator: hexOrNull(row, 'creator'),
  creationTransaction: hexOrNull(row, 'creation'),
  firstBlock: numberColumn(row, 'first_block'),
  lastBlock: numberColumn(row, 'last_block'),
})

export const toTokenRow = (row: SqlRow) => ({
  address: hexColumn(row, 'address'),
  standard: TOKEN_STANDARDS[numberColumn(row, 'standard')] as TokenStandard,
  name: nullableText(row, 'name'),
  symbol: nullableText(row, 'symbol'),
  decimals: row['decimals'] as number | null,
  supply: row['supply'] === null ? null : bigintColumn(row, 'supply'),
  transfers: numberColumn(row, 'transfers'),
  holders: numberColumn(row, 'holders'),
})

/** Token with its sums. */
export type TokenRow = ReturnType<typeof toTokenRow>

export const toHolderRow = (row: SqlRow) => ({
  owner: hexColumn(row, 'owner'),
  balance: balanceFromKey(row['balance'] as Uint8Array),
})

export const toDayRow = (row: SqlRow) => ({
  day: numberColumn(row, 'day'),
  blocks: numberColumn(row, 'blocks'),
  transactions: numberColumn(row, 'transactions'),
  gasUsed: bigintColumn(row, 'gas_used'),
  valueWei: bigintColumn(row, 'value'),
  feesWei: bigintColumn(row, 'fees'),
  burntWei: bigintColumn(row, 'burnt'),
  gasPriceSum: bigintColumn(row, 'gas_prices'),
  firstTimestamp: numberColumn(row, 'first_timestamp'),
  lastTimestamp: numberColumn(row, 'last_timestamp'),
  activeAddresses: numberColumn(row, 'active'),
  newAddresses: numberColumn(row, 'new_addresses'),
  newContracts: numberColumn(row, 'new_contracts'),
})

/** Sums of a UTC day. */
export type DayRow = ReturnType<typeof toDayRow>

export const toRewardRow = (row: SqlRow) => ({
  address: hexColumn(row, 'address'),
  cycle: numberColumn(row, 'cycle'),
  role: REWARD_ROLES[numberColumn(row, 'role')] as RewardRole,
  blocks: numberColumn(row, 'blocks'),
  wei: bigintColumn(row, 'wei'),
})

/** Earnings of an address in a cycle. */
export type RewardRow = ReturnType<typeof toRewardRow>

export const toProducerRow = (row: SqlRow) => ({
  address: hexColumn(row, 'address'),
  mined: numberColumn(row, 'mined'),
  proposed: numberColumn(row, 'proposed'),
  minedWei: bigintColumn(row, 'mined_wei'),
  proposedWei: bigintColumn(row, 'proposed_wei'),
})

/** Blocks of an address, and its earnings from them. */
export type ProducerRow = ReturnType<typeof toProducerRow>
