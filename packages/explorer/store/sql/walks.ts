import type { ListRange, Page, PageKey, PageRequest } from '../index-query.ts'
import type { ScanRequest } from './skip-offset.ts'
import { numberColumn, type SqlReads, type SqlRow, type SqlValue } from './sql-database.ts'

/*
 * Scans of indexes for lists. Each index is scanned from one end, so a page reads only as many rows as it shows, whatever the size of the
 * table.
 */

/** Limit of index rows scanned for a page with several filters. */
const SCANNED_ROWS = 5_000
/** Offset up to which scans of two indexes are merged here; beyond it the database merges them. */
const MERGED_ROWS = 1_000

export interface Condition {
  readonly sql: string
  readonly value: SqlValue
}

/** Table whose rows are ordered by numbers, the first of which is the block. */
export interface WalkedTable {
  readonly name: string
  readonly key: readonly string[]
}

export interface WalkRequest {
  readonly table: WalkedTable
  /** Column with an index of its own, followed by the key. */
  readonly first: Condition | undefined
  readonly others: readonly Condition[]
  readonly range: ListRange
}

interface Walk {
  readonly keys: readonly PageKey[]
  /** Position where the scan stopped before its end; null: it found enough or reached the end. */
  readonly stopped: PageKey | null
}

/** Returns the keys of a page: rows that any of the scans finds, each once. */
export const walkPage = async (
  reads: SqlReads,
  requests: readonly WalkRequest[],
  page: ScanRequest,
): Promise<Page<PageKey>> => {
  const skipped = page.after === null ? page.offset : 0
  const [only] = requests
  if (only !== undefined && requests.length === 1 && only.others.length === 0) {
    // One index in its own order: the database skips the offset by itself.
    const found = await walk(reads, only, page, { wanted: page.limit + 1, skipped })
    return mergeKeys([found], { ...page, offset: 0 })
  }
  const wanted = page.limit + 1 + skipped
  if (skipped > MERGED_ROWS && requests.every(({ others }) => others.length === 0))
    return mergeThere(reads, requests, page)
  return mergeKeys(await Promise.all(requests.map(request => walk(reads, request, page, { wanted, skipped: 0 }))), page)
}

interface Amount {
  readonly wanted: number
  readonly skipped: number
}

/** A page far into scans of several indexes: their keys stay in the database. */
const mergeThere = async (
  reads: SqlReads,
  requests: readonly WalkRequest[],
  { limit, offset, ascending = false }: PageRequest,
): Promise<Page<PageKey>> => {
  const { key } = (requests[0] as WalkRequest).table
  const wanted = offset + limit + 1
  const order = orderOf(key, ascending)
  const parts = requests.map(({ table, first, range }) => {
    const bounds = boundsOf(first, range)
    const where = bounds.map(({ sql }) => sql).join(' AND ') || '1 = 1'
    const sql = `SELECT * FROM (SELECT ${key} FROM ${table.name} WHERE ${where} ORDER BY ${order} LIMIT ?) AS scanned`
    return { sql, values: [...bounds.map(({ value }) => value), wanted] }
  })
  const rows = await reads.all(
    `${parts.map(({ sql }) => sql).join(' UNION ')} ORDER BY ${order} LIMIT ? OFFSET ?`,
    ...parts.flatMap(({ values }) => values),
    limit + 1,
    offset,
  )
  const keys = rows.map(row => key.map(column => numberColumn(row, column)))
  const items = keys.slice(0, limit)
  return { items, next: keys.length > limit ? (items.at(-1) ?? null) : null }
}

const orderOf = (key: readonly string[], ascending: boolean): string =>
  key.map(column => `${column} ${ascending ? 'ASC' : 'DESC'}`).join(', ')

const boundsOf = (first: Condition | undefined, range: ListRange): readonly Condition[] => [
  ...(first === undefined ? [] : [first]),
  ...(range.fromBlock === undefined ? [] : [{ sql: 'block >= ?', value: range.fromBlock }]),
  ...(range.toBlock === undefined ? [] : [{ sql: 'block <= ?', value: range.toBlock }]),
]

const walk = async (
  reads: SqlReads,
  { table, first, others, range }: WalkRequest,
  { after, from, ascending = false }: ScanRequest,
  { wanted, skipped }: Amount,
): Promise<Walk> => {
  const key = table.key.join(', ')
  const order = orderOf(table.key, ascending)
  const bounds = boundsOf(first, range)
  const start = after ?? from
  const beyond = `(${key}) ${ascending ? '>' : '<'}${after === null ? '=' : ''} (${table.key.map(() => '?').join(', ')})`
  const where = [...bounds.map(({ sql }) => sql), ...(start ? [beyond] : [])].join(' AND ') || '1 = 1'
  const values = [...bounds.map(({ value }) => value), ...((start ?? []) as number[])]
  const base = `FROM ${table.name} WHERE ${where} ORDER BY ${order} LIMIT ?`
  const keyOf = (row: SqlRow): PageKey => table.key.map(column => numberColumn(row, column))
  if (others.length === 0) {
    const rows = await reads.all(`SELECT ${key} ${base} OFFSET ?`, ...values, wanted, skipped)
    return { keys: rows.map(keyOf), stopped: null }
  }
  const filters = others.map(({ sql }) => sql).join(' AND ')
  const rows = await reads.all(
    `SELECT ${key} FROM (SELECT * ${base}) AS scanned WHERE ${filters} ORDER BY ${order} LIMIT ?`,
    ...values,
    SCANNED_ROWS,
    ...others.map(({ value }) => value),
    wanted,
  )
  if (rows.length >= wanted) return { keys: rows.map(keyOf), stopped: null }
  const last = await reads.get(`SELECT ${key} ${base} OFFSET ?`, ...values, 1, SCANNED_ROWS - 1)
  return { keys: rows.map(keyOf), stopped: last === undefined ? null : keyOf(last) }
}

const newestFirst = (a: PageKey, b: PageKey): number => {
  for (let i = 0; i < a.length; i++) {
    const difference = (b[i] as number) - (a[i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Merges scans of one order into a page; nothing beyond the position where one of them stopped. */
const mergeKeys = (walks: readonly Walk[], page: PageRequest): Page<PageKey> => {
  const inOrder = page.ascending ? (a: PageKey, b: PageKey) => newestFirst(b, a) : newestFirst
  const merged: PageKey[] = []
  for (const key of walks.flatMap(({ keys }) => keys).sort(inOrder)) {
    const last = merged.at(-1)
    if (last === undefined || inOrder(last, key) !== 0) merged.push(key)
  }
  const [stop] = walks.flatMap(({ stopped }) => (stopped === null ? [] : [stopped])).sort(inOrder)
  const reached = stop === undefined ? merged : merged.filter(key => inOrder(key, stop) <= 0)
  const start = page.after === null ? page.offset : 0
  const items = reached.slice(start, start + page.limit)
  if (reached.length > start + page.limit) return { items, next: items.at(-1) ?? null }
  return { items, next: stop ?? null }
}
