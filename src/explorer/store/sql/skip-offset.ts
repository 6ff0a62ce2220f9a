import { ZERO_ADDRESS } from '../../../util/bytes.ts'
import type {
  InternalFilter,
  ListRange,
  PageKey,
  PageRequest,
  TransactionFilter,
  TransferFilter,
} from '../index-store.ts'
import { kindList, pointerFrom, SKIP_ROWS, type SkipList, skipList } from './skip-pointers.ts'
import { blobOf, numberColumn, type SqlReads } from './sql-database.ts'

/** Page that may also begin at a key, which belongs to it unless the offset leaves it out. */
export interface ScanRequest extends PageRequest {
  readonly from?: PageKey
}

/** List with pointers that a filter selects in all blocks; undefined: it has none. */
export const transactionList = ({ kind, from, to, party }: TransactionFilter): SkipList | undefined => {
  const given = [kind, from, to, party].filter(value => value !== undefined).length
  if (given > 1) return undefined
  if (kind !== undefined) return kindList(kind)
  if (from !== undefined) return skipList('sender', from)
  if (to !== undefined) return skipList('recipient', to)
  return party === undefined ? skipList('transactions') : skipList('party', party)
}

/** Likewise of token transfers. */
export const transferList = ({ token, party, standard }: TransferFilter): SkipList | undefined => {
  // Mints and burns are not counted as transfers of the zero address.
  if (standard !== undefined || party === ZERO_ADDRESS) return undefined
  if (party !== undefined) return token === undefined ? skipList('transfer party', party) : undefined
  return token === undefined ? skipList('transfers') : skipList('token', token)
}

/** Likewise of internal transfers. */
export const internalList = ({ party }: InternalFilter): SkipList =>
  party === undefined ? skipList('internal') : skipList('internal party', party)

/** Tools ask for the blocks from 0 to 99,999,999 when they want all. */
const isEveryBlock = async (reads: SqlReads, { fromBlock = 0, toBlock }: ListRange): Promise<boolean> => {
  if (fromBlock > 0) return false
  if (toBlock === undefined) return true
  const last = await reads.get('SELECT number FROM position')
  return last === undefined || numberColumn(last, 'number') <= toBlock
}

const POINTER = 'SELECT block, second, third FROM skip_pointer WHERE list = ? AND owner = ? AND ordinal = ?'

/** Ordinal of the pointer that a page is scanned from, and the rows from it to the page. */
const stepOf = (rows: number, { offset, ascending = false }: PageRequest): { ordinal: number; skipped: number } => {
  if (ascending) return { ordinal: offset - (offset % SKIP_ROWS), skipped: offset % SKIP_ROWS }
  const wanted = rows - 1 - offset
  const ordinal = pointerFrom(wanted)
  return { ordinal, skipped: ordinal - wanted }
}

interface SkipRequest {
  readonly range: ListRange
  readonly page: PageRequest
  /** Number of columns of a key. */
  readonly keyParts: number
}

/** The same page, with at most a few hundred rows to leave out; as it is where no pointer helps. Undefined: it is behind the end of the list. */
export const skipOffset = async (
  reads: SqlReads,
  list: SkipList | undefined,
  { range, page, keyParts }: SkipRequest,
): Promise<ScanRequest | undefined> => {
  if (list === undefined || page.after !== null || page.offset < SKIP_ROWS) return page
  if (!(await isEveryBlock(reads, range))) return page
  const counted = await reads.get(list.count.sql, list.count.value)
  const rows = counted === undefined ? 0 : numberColumn(counted, 'count')
  if (page.offset >= rows) return undefined
  const { ordinal, skipped } = stepOf(rows, page)
  const found = await reads.get(POINTER, list.number, blobOf(list.owner), ordinal)
  // Blocks were taken back between the two reads.
  if (found === undefined) return page
  const key = ['block', 'second', 'third'].slice(0, keyParts).map(name => numberColumn(found, name))
  return { ...page, from: key, offset: skipped }
}
