import type { SQLInputValue } from 'node:sqlite'
import type {
  Page,
  PageKey,
  PageRequest,
  TransactionFilter,
  TransactionRow,
  TransferFilter,
  TransferRow,
} from '../index-store.ts'
import { TOKEN_STANDARDS, TRANSACTION_KINDS } from '../records.ts'
import { blobOf, numberColumn, type SqliteDatabase, type SqlRow } from './database.ts'
import { toTransactionRow, toTransferRow } from './rows.ts'

/*
 * Lists over several indexes. Each index is scanned from its newest end, so a page reads only as many rows as it shows, whatever
 * the size of the table.
 */

export const SELECT_TRANSACTION =
  'SELECT tx.*, block.hash AS block_hash, block.timestamp FROM tx JOIN block ON block.number = tx.block'
export const SELECT_TRANSFER = `SELECT t.*, block.timestamp, tx.hash AS tx_hash FROM transfer t JOIN block ON block.number = t.block
  JOIN tx ON tx.block = t.block AND tx.idx = t.idx`

/** Limit of index rows scanned for a page with several filters. */
const SCANNED_ROWS = 20_000

interface Condition {
  readonly sql: string
  readonly value: SQLInputValue
}

/** Newest first. With two or more filters a page may be short, with a key for the next one. */
export const listTransactions = (
  database: SqliteDatabase,
  filter: TransactionFilter,
  page: PageRequest,
): Page<TransactionRow> => {
  const { party } = filter
  const kind: Condition[] =
    filter.kind === undefined ? [] : [{ sql: 'kind = ?', value: TRANSACTION_KINDS.indexOf(filter.kind) }]
  const from: Condition[] = filter.from === undefined ? [] : [{ sql: 'sender = ?', value: blobOf(filter.from) }]
  const to: Condition[] = filter.to === undefined ? [] : [{ sql: 'party = ?', value: blobOf(filter.to) }]
  const walks =
    party === undefined
      ? [[...from, ...to, ...kind]]
      : [
          [{ sql: 'sender = ?', value: blobOf(party) }, ...kind],
          [{ sql: 'party = ?', value: blobOf(party) }, ...kind],
        ]
  const found = walkTransactions(database, walks, page)
  const rows = found.keys.map(key => {
    const row = database.get(`${SELECT_TRANSACTION} WHERE tx.block = ? AND tx.idx = ?`, ...(key as number[]))
    return toTransactionRow(row as SqlRow)
  })
  return { items: rows, next: found.next }
}

interface FoundKeys {
  readonly keys: readonly PageKey[]
  readonly next: PageKey | null
}

const walkTransactions = (
  database: SqliteDatabase,
  walks: readonly (readonly Condition[])[],
  page: PageRequest,
): FoundKeys => {
  const [only] = walks
  const skipped = page.after === null ? page.offset : 0
  if (only !== undefined && walks.length === 1 && only.length <= 1) {
    // One index in its own order: the database skips the offset by itself.
    const walk = walkOne(database, only, page.after, page.limit + 1, skipped)
    return mergeKeys([walk], { ...page, offset: 0 })
  }
  const lists = walks.map(conditions => walkOne(database, conditions, page.after, page.limit + 1 + skipped))
  return mergeKeys(lists, page)
}

interface Walk {
  readonly keys: readonly PageKey[]
  /** Position where the scan stopped before its end; null: it found enough or reached the end. */
  readonly stopped: PageKey | null
}

const walkOne = (
  database: SqliteDatabase,
  conditions: readonly Condition[],
  after: PageKey | null,
  wanted: number,
  skipped = 0,
): Walk => {
  const [first, ...others] = conditions
  const bound = after === null ? '' : ' AND (block, idx) < (?, ?)'
  const key = (after ?? []) as number[]
  const base = `FROM tx WHERE ${first?.sql ?? '1'}${bound} ORDER BY block DESC, idx DESC LIMIT ?`
  const values = first === undefined ? key : [first.value, ...key]
  if (others.length === 0)
    return {
      keys: database.all(`SELECT block, idx ${base} OFFSET ?`, ...values, wanted, skipped).map(keyOf),
      stopped: null,
    }
  const rows = database.all(
    `SELECT block, idx FROM (SELECT * ${base}) WHERE ${others.map(({ sql }) => sql).join(' AND ')} LIMIT ?`,
    ...values,
    SCANNED_ROWS,
    ...others.map(({ value }) => value),
    wanted,
  )
  if (rows.length >= wanted) return { keys: rows.map(keyOf), stopped: null }
  const last = database.get(`SELECT block, idx ${base} OFFSET ?`, ...values, 1, SCANNED_ROWS - 1)
  return { keys: rows.map(keyOf), stopped: last === undefined ? null : keyOf(last) }
}

const keyOf = (row: SqlRow): PageKey => [numberColumn(row, 'block'), numberColumn(row, 'idx')]

const newestFirst = (a: PageKey, b: PageKey): number => {
  for (let i = 0; i < a.length; i++) {
    const difference = (b[i] as number) - (a[i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Merges scans, each newest first, into a page; nothing beyond the position where one of them stopped. */
const mergeKeys = (walks: readonly Walk[], page: PageRequest): FoundKeys => {
  const merged: PageKey[] = []
  for (const key of walks.flatMap(({ keys }) => keys).sort(newestFirst)) {
    const last = merged.at(-1)
    if (last === undefined || newestFirst(last, key) !== 0) merged.push(key)
  }
  const [stop] = walks.flatMap(({ stopped }) => (stopped === null ? [] : [stopped])).sort(newestFirst)
  const reached = stop === undefined ? merged : merged.filter(key => newestFirst(key, stop) <= 0)
  const start = page.after === null ? page.offset : 0
  const keys = reached.slice(start, start + page.limit)
  if (reached.length > start + page.limit) return { keys, next: keys.at(-1) ?? null }
  return { keys, next: stop ?? null }
}

/** Newest first. */
export const listTransfers = (
  database: SqliteDatabase,
  { token, party, standard }: TransferFilter,
  page: PageRequest,
): Page<TransferRow> => {
  const columns = party === undefined ? (token === undefined ? [] : ['token']) : ['sender', 'recipient']
  const value = party ?? token
  const wanted = page.limit + 1 + (page.after === null ? page.offset : 0)
  const extra: Condition[] = [
    ...(party !== undefined && token !== undefined ? [{ sql: 'token = ?', value: blobOf(token) }] : []),
    ...(standard === undefined ? [] : [{ sql: 'standard = ?', value: TOKEN_STANDARDS.indexOf(standard) }]),
  ]
  const walks = (columns.length === 0 ? [null] : columns).map(column =>
    walkTransfers(
      database,
      column === null ? null : { sql: `${column} = ?`, value: blobOf(value as `0x${string}`) },
      extra,
      page.after,
      wanted,
    ),
  )
  const found = mergeKeys(walks, page)
  const rows = found.keys.map(key => {
    const row = database.get(`${SELECT_TRANSFER} WHERE t.block = ? AND t.log = ? AND t.place = ?`, ...(key as number[]))
    return toTransferRow(row as SqlRow)
  })
  return { items: rows, next: found.next }
}

const walkTransfers = (
  database: SqliteDatabase,
  first: Condition | null,
  others: readonly Condition[],
  after: PageKey | null,
  wanted: number,
): Walk => {
  const bound = after === null ? '' : ' AND (block, log, place) < (?, ?, ?)'
  const base = `FROM transfer WHERE ${first?.sql ?? '1'}${bound} ORDER BY block DESC, log DESC, place DESC LIMIT ?`
  const values = [...(first === null ? [] : [first.value]), ...((after ?? []) as number[])]
  const toKey = (row: SqlRow): PageKey => [
    numberColumn(row, 'block'),
    numberColumn(row, 'log'),
    numberColumn(row, 'place'),
  ]
  if (others.length === 0)
    return { keys: database.all(`SELECT block, log, place ${base}`, ...values, wanted).map(toKey), stopped: null }
  const rows = database.all(
    `SELECT block, log, place FROM (SELECT * ${base}) WHERE ${others.map(({ sql }) => sql).join(' AND ')} LIMIT ?`,
    ...values,
    SCANNED_ROWS,
    ...others.map(({ value }) => value),
    wanted,
  )
  if (rows.length >= wanted) return { keys: rows.map(toKey), stopped: null }
  const last = database.get(`SELECT block, log, place ${base} OFFSET ?`, ...values, 1, SCANNED_ROWS - 1)
  return { keys: rows.map(toKey), stopped: last === undefined ? null : toKey(last) }
}
