import { ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type {
  InternalFilter,
  ListRange,
  PageKey,
  PageRequest,
  TransactionFilter,
  TransferFilter,
} from '../index-query.ts'
import { kindList, pointerFrom, SKIP_ROWS, type SkipList, skipList } from './skip-pointers.ts'
import { blobOf, numberColumn, type SqlReads, type SqlRow } from './sql-database.ts'

/** Page that may also begin at a key, which belongs to it unless the offset leaves it out. */
export interface ScanRequest extends PageRequest {
  readonly from?: PageKey
}

/** List of transactions with pointers that a filter selects; undefined: it has none. */
export const transactionList = ({ kind, from, to, party }: TransactionFilter): SkipList | undefined => {
  const given = [kind, from, to, party].filter(value => value !== undefined).length
  if (given > 1) return undefined
  if (kind !== undefined) return kindList(kind)
  if (from !== undefined) return skipList('sender', from)
  if (to !== undefined) return skipList('recipient', to)
  return party === undefined ? skipList('transactions') : skipList('party', party)
}

/** List of token transfers with pointers that a filter selects; undefined: it has none. */
export const transferList = ({ token, party, standard }: TransferFilter): SkipList | undefined => {
  // Mints and burns are not counted as transfers of the zero address.
  if (standard !== undefined || party === ZERO_ADDRESS) return undefined
  if (party !== undefined) return token === undefined ? skipList('transfer party', party) : undefined
  return token === undefined ? skipList('transfers') : skipList('token', token)
}

/** List of internal transfers with pointers that a filter selects. */
export const internalList = ({ party }: InternalFilter): SkipList =>
  party === undefined ? skipList('internal') : skipList('internal party', party)

const POINTER = 'SELECT block, second, third FROM skip_pointer WHERE list = ? AND owner = ? AND ordinal = ?'
const POINTER_BELOW = `SELECT ordinal, block, second, third FROM skip_pointer WHERE list = ? AND owner = ? AND block < ?
  ORDER BY block DESC, ordinal DESC LIMIT 1`

interface SkipRequest {
  readonly range: ListRange
  readonly page: PageRequest
  /** Number of columns of a key. */
  readonly keyParts: number
  /** Counts the rows of the list below a block, from a key on; they are no more than a pointer skips. */
  readonly count: (below: number, from: PageKey | undefined) => Promise<number>
}

/** Numbers of the first row within a range of blocks, and of the first one behind it. */
interface RowRange {
  readonly start: number
  readonly end: number
}

const keyOf = (row: SqlRow, parts: number): PageKey =>
  ['block', 'second', 'third'].slice(0, parts).map(name => numberColumn(row, name))

const rowsBelow = async (
  reads: SqlReads,
  list: SkipList,
  block: number,
  { keyParts, count }: SkipRequest,
): Promise<number> => {
  const found = await reads.get(POINTER_BELOW, list.number, blobOf(list.owner), block)
  if (found === undefined) return count(block, undefined)
  return numberColumn(found, 'ordinal') + (await count(block, keyOf(found, keyParts)))
}

const rowRange = async (reads: SqlReads, list: SkipList, request: SkipRequest): Promise<RowRange> => {
  const { fromBlock = 0, toBlock } = request.range
  const endOf = async (): Promise<number> => {
    // Tools ask for the blocks from 0 to 99,999,999 when they want all.
    const last = toBlock === undefined ? undefined : await reads.get('SELECT number FROM position')
    if (toBlock !== undefined && last !== undefined && numberColumn(last, 'number') > toBlock)
      return rowsBelow(reads, list, toBlock + 1, request)
    const counted = await reads.get(list.count.sql, list.count.value)
    return counted === undefined ? 0 : numberColumn(counted, 'count')
  }
  const [start, end] = await Promise.all([fromBlock > 0 ? rowsBelow(reads, list, fromBlock, request) : 0, endOf()])
  return { start, end }
}

/** Ordinal of the pointer that a page is scanned from, and the rows from it to the page. */
const stepOf = (
  { start, end }: RowRange,
  { offset, ascending = false }: PageRequest,
): { ordinal: number; skipped: number } => {
  const wanted = ascending ? start + offset : end - 1 - offset
  if (ascending) return { ordinal: wanted - (wanted % SKIP_ROWS), skipped: wanted % SKIP_ROWS }
  const ordinal = pointerFrom(wanted)
  return { ordinal, skipped: ordinal - wanted }
}

/** Returns a page with at most a few hundred rows to leave out, unchanged where no pointer helps; undefined behind the end of the list. */
export const skipOffset = async (
  reads: SqlReads,
  list: SkipList | undefined,
  request: SkipRequest,
): Promise<ScanRequest | undefined> => {
  const { page, keyParts } = request
  if (list === undefined || page.after !== null || page.offset < SKIP_ROWS) return page
  const rows = await rowRange(reads, list, request)
  if (page.offset >= rows.end - rows.start) return undefined
  // Within the rows of the range: the offset is at least that from one pointer to the next.
  const { ordinal, skipped } = stepOf(rows, page)
  const found = await reads.get(POINTER, list.number, blobOf(list.owner), ordinal)
  // Blocks were taken back between the two reads.
  return found === undefined ? page : { ...page, from: keyOf(found, keyParts), offset: skipped }
}
