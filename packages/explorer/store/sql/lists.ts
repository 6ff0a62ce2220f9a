import type { Hex } from '@tandem/base/bytes.ts'
import type { InternalFilter, Page, PageKey, PageRequest, TransactionFilter, TransferFilter } from '../index-query.ts'
import { TOKEN_STANDARDS, TRANSACTION_KINDS } from '../records.ts'
import {
  type InternalRow,
  type TransactionRow,
  type TransferRow,
  toInternalRow,
  toTransactionRow,
  toTransferRow,
} from './rows.ts'
import { internalList, skipOffset, transactionList, transferList } from './skip-offset.ts'
import { SKIP_ROWS, type SkipList } from './skip-pointers.ts'
import { blobOf, numberColumn, type SqlReads, type SqlRow } from './sql-database.ts'
import { type Condition, type WalkedTable, type WalkRequest, walkPage } from './walks.ts'

export const SELECT_TRANSACTION =
  'SELECT tx.*, block.hash AS block_hash, block.timestamp FROM tx JOIN block ON block.number = tx.block'
export const SELECT_TRANSFER = `SELECT t.*, block.timestamp, tx.hash AS tx_hash FROM transfer t JOIN block ON block.number = t.block
  JOIN tx ON tx.block = t.block AND tx.idx = t.idx`
export const SELECT_INTERNAL = `SELECT i.*, block.timestamp, tx.hash AS tx_hash FROM internal i JOIN block ON block.number = i.block
  JOIN tx ON tx.block = i.block AND tx.idx = i.idx`

const TRANSACTIONS: WalkedTable = { name: 'tx', key: ['block', 'idx'] }
const TRANSFERS: WalkedTable = { name: 'transfer', key: ['block', 'log', 'place'] }
const INTERNAL: WalkedTable = { name: 'internal', key: ['block', 'idx', 'place'] }

const is = (column: string, address: Hex): Condition => ({ sql: `${column} = ?`, value: blobOf(address) })

/** Keys of a page of a list, which may have skip pointers. */
const keysOf = async (
  reads: SqlReads,
  list: SkipList | undefined,
  walks: readonly WalkRequest[],
  page: PageRequest,
): Promise<Page<PageKey>> => {
  const { range, table } = walks[0] as WalkRequest
  const count = async (below: number, from: PageKey | undefined): Promise<number> => {
    const parts = walks.map(walk => ({ ...walk, range: { toBlock: below - 1 } }))
    const rows = { limit: SKIP_ROWS, offset: 0, after: null, ascending: true, ...(from && { from }) }
    return (await walkPage(reads, parts, rows)).items.length
  }
  const scan = await skipOffset(reads, list, { range, page, keyParts: table.key.length, count })
  return scan === undefined ? { items: [], next: null } : walkPage(reads, walks, scan)
}

const rowsOf = async <T>(
  reads: SqlReads,
  { items, next }: Page<PageKey>,
  sql: string,
  toRow: (row: SqlRow) => T,
): Promise<Page<T>> => ({ items: (await reads.lookUp(sql, items)).map(toRow), next })

/** Newest first unless asked otherwise. With two or more filters a page may be short, with a key for the next one. */
export const listTransactions = async (
  reads: SqlReads,
  filter: TransactionFilter,
  page: PageRequest,
): Promise<Page<TransactionRow>> => {
  const { kind, from, to, party } = filter
  const ofKind: Condition[] = kind === undefined ? [] : [{ sql: 'kind = ?', value: TRANSACTION_KINDS.indexOf(kind) }]
  const conditions =
    party === undefined
      ? [[...(from ? [is('sender', from)] : []), ...(to ? [is('party', to)] : []), ...ofKind]]
      : [
          [is('sender', party), ...ofKind],
          [is('party', party), ...ofKind],
        ]
  const walks = conditions.map(([first, ...others]) => ({ table: TRANSACTIONS, first, others, range: filter }))
  const found = await keysOf(reads, transactionList(filter), walks, page)
  return rowsOf(reads, found, `${SELECT_TRANSACTION} WHERE tx.block = ? AND tx.idx = ?`, toTransactionRow)
}

/** Drops the standard from a filter whose token has transfers of no other one; undefined: nothing passes the filter. */
const withoutStandard = async (reads: SqlReads, filter: TransferFilter): Promise<TransferFilter | undefined> => {
  const { token, standard, ...others } = filter
  if (token === undefined || standard === undefined) return filter
  const row = await reads.get('SELECT standard, other_transfers FROM token WHERE address = ?', blobOf(token))
  if (row === undefined) return undefined
  if (row['other_transfers'] !== 0) return filter
  return TOKEN_STANDARDS[numberColumn(row, 'standard')] === standard ? { token, ...others } : undefined
}

/** Newest first unless asked otherwise. */
export const listTransfers = async (
  reads: SqlReads,
  asked: TransferFilter,
  page: PageRequest,
): Promise<Page<TransferRow>> => {
  const filter = await withoutStandard(reads, asked)
  if (filter === undefined) return { items: [], next: null }
  const { token, party, standard } = filter
  const others: Condition[] = [
    ...(party !== undefined && token !== undefined ? [is('token', token)] : []),
    ...(standard === undefined ? [] : [{ sql: 'standard = ?', value: TOKEN_STANDARDS.indexOf(standard) }]),
  ]
  const firsts = party === undefined ? [token && is('token', token)] : [is('sender', party), is('recipient', party)]
  const walks = firsts.map(first => ({ table: TRANSFERS, first, others, range: filter }))
  const found = await keysOf(reads, transferList(filter), walks, page)
  return rowsOf(reads, found, `${SELECT_TRANSFER} WHERE t.block = ? AND t.log = ? AND t.place = ?`, toTransferRow)
}

/** Newest first unless asked otherwise. */
export const listInternal = async (
  reads: SqlReads,
  filter: InternalFilter,
  page: PageRequest,
): Promise<Page<InternalRow>> => {
  const { party } = filter
  const firsts = party === undefined ? [undefined] : [is('sender', party), is('recipient', party)]
  const walks = firsts.map(first => ({ table: INTERNAL, first, others: [], range: filter }))
  const found = await keysOf(reads, internalList(filter), walks, page)
  return rowsOf(reads, found, `${SELECT_INTERNAL} WHERE i.block = ? AND i.idx = ? AND i.place = ?`, toInternalRow)
}
