import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { ACCOUNT_SUMS, AccountTotals, IndexTotals } from '../index-totals.ts'
import {
  type BlockRecord,
  counterpartOf,
  type InternalRecord,
  TRANSACTION_KINDS,
  type TransactionKind,
  type TransactionRecord,
  type TransferRecord,
} from '../records.ts'
import { blobOf, type SqlValue, type SqlWrites } from './sql-database.ts'

/*
 * Skip pointers: the key of every five-hundredth row of a list, counted from its oldest, so that an offset is a step to the next pointer and a
 * scan of a few hundred rows. A block never changes the place of an older row, so a pointer is written once.
 */

/** Rows of a list between two of its pointers. */
export const SKIP_ROWS = 500

/** Ordinal of the first pointer at a row or behind it; the oldest row has none. */
export const pointerFrom = (row: number): number => Math.max(SKIP_ROWS, Math.ceil(row / SKIP_ROWS) * SKIP_ROWS)

/** Lists with pointers; the place of each is its number in the table. */
const SKIP_LISTS = [
  'transactions',
  'kind',
  'sender',
  'recipient',
  'party',
  'transfers',
  'token',
  'transfer party',
  'internal',
  'internal party',
] as const
type SkipListName = (typeof SKIP_LISTS)[number]

/** List of the rows of an owner: an address, a kind of transactions, or nobody for all of them. */
export interface SkipList {
  readonly number: number
  readonly name: SkipListName
  readonly owner: Hex
  /** Running sum that counts its rows. */
  readonly count: { readonly sql: string; readonly value: SqlValue }
}

const NOBODY: Hex = '0x'
const kindOwner = (kind: TransactionKind): Hex => `0x0${TRANSACTION_KINDS.indexOf(kind)}`

const COUNTER = 'SELECT value AS count FROM counter WHERE name = ?'
const OWNER_COUNTS: Readonly<Partial<Record<SkipListName, string>>> = {
  sender: 'SELECT sent AS count FROM account WHERE address = ?',
  recipient: 'SELECT received AS count FROM account WHERE address = ?',
  party: 'SELECT transactions AS count FROM account WHERE address = ?',
  'transfer party': 'SELECT transfers AS count FROM account WHERE address = ?',
  'internal party': 'SELECT internal AS count FROM account WHERE address = ?',
  token: 'SELECT transfers AS count FROM token WHERE address = ?',
}

/** List of all rows, or of those of an address. */
export const skipList = (name: SkipListName, owner: Hex = NOBODY): SkipList => {
  const sql = OWNER_COUNTS[name]
  const count = sql === undefined ? { sql: COUNTER, value: name } : { sql, value: blobOf(owner) }
  return { number: SKIP_LISTS.indexOf(name), name, owner, count }
}

/** List of the transactions of a kind. */
export const kindList = (kind: TransactionKind): SkipList => ({
  ...skipList('kind', kindOwner(kind)),
  count: { sql: COUNTER, value: `transactions:${kind}` },
})

/** Running sums of an account that count the rows of its lists. */
export type AccountLengths = Pick<AccountTotals, (typeof ACCOUNT_SUMS)[number]>

/** Numbers of rows that lists have before a batch. */
interface ListLengths {
  /** `sum`: what the counter of a name adds up. */
  counter(name: string, sum: (totals: IndexTotals) => number): number
  account(address: Hex): AccountLengths
  /** Transfers of a token. */
  token(address: Hex): number
}

type SkipPointerRow = Readonly<Record<'list' | 'ordinal' | 'block' | 'second' | 'third', number>> & {
  readonly owner: Hex
}

/** Number of the next row of each list, and the pointers to the rows that were counted. */
export class SkipPointers {
  /** By list, then owner. */
  readonly #next: readonly Map<Hex, number>[] = SKIP_LISTS.map(() => new Map<Hex, number>())
  readonly #isEvery: boolean
  readonly rows: SkipPointerRow[] = []

  /** `every`: rows of all lists are counted, from 0; otherwise those of the lists that were begun. */
  constructor(every: boolean) {
    this.#isEvery = every
  }

  /** Begins a list with so many rows, to which others come; one that gets no pointer by them is left out. */
  begin(name: SkipListName, owner: Hex, rows: number, added: number): void {
    if (pointerFrom(rows) < rows + added) this.#next[SKIP_LISTS.indexOf(name)]?.set(owner, rows)
  }

  /** Counts the rows of a block behind those before it. */
  add({ number, transactions, transfers, internal }: BlockRecord): void {
    for (const transaction of transactions) this.#addTransaction(number, transaction)
    for (const transfer of transfers) this.#addTransfer(number, transfer)
    // A pointer follows the order of the rows, whatever that of the record.
    const ordered = internal.toSorted((a, b) => a.transactionIndex - b.transactionIndex || a.position - b.position)
    for (const transfer of ordered) this.#addInternal(number, transfer)
  }

  #addTransaction(block: number, transaction: TransactionRecord): void {
    const key = [block, transaction.index, 0] as const
    const { from, kind } = transaction
    const other = counterpartOf(transaction)
    this.#count('transactions', NOBODY, key)
    this.#count('kind', kindOwner(kind), key)
    this.#count('sender', from, key)
    this.#count('party', from, key)
    if (other === null) return
    this.#count('recipient', other, key)
    if (other !== from) this.#count('party', other, key)
  }

  #addTransfer(block: number, { logIndex, position, token, from, to }: TransferRecord): void {
    const key = [block, logIndex, position] as const
    this.#count('transfers', NOBODY, key)
    this.#count('token', token, key)
    // As its count in the account's row.
    for (const party of new Set([from, to])) if (party !== ZERO_ADDRESS) this.#count('transfer party', party, key)
  }

  #addInternal(block: number, { transactionIndex, position, from, to }: InternalRecord): void {
    const key = [block, transactionIndex, position] as const
    this.#count('internal', NOBODY, key)
    this.#count('internal party', from, key)
    if (to !== from) this.#count('internal party', to, key)
  }

  #count(name: SkipListName, owner: Hex, [block, second, third]: readonly [number, number, number]): void {
    const list = SKIP_LISTS.indexOf(name)
    const next = this.#next[list] as Map<Hex, number>
    const ordinal = next.get(owner) ?? (this.#isEvery ? 0 : undefined)
    if (ordinal === undefined) return
    next.set(owner, ordinal + 1)
    if (ordinal === 0 || ordinal % SKIP_ROWS !== 0) return
    this.rows.push({ list, owner, ordinal, block, second, third })
  }
}

/** Writes the pointers to rows of new blocks. */
export const addSkipPointers = async (
  writes: SqlWrites,
  records: readonly BlockRecord[],
  totals: IndexTotals,
  before: ListLengths,
): Promise<void> => {
  const pointers = new SkipPointers(false)
  for (const name of ['transactions', 'transfers', 'internal'] as const)
    pointers.begin(
      name,
      NOBODY,
      before.counter(name, sums => sums[name]),
      totals[name],
    )
  for (const kind of TRANSACTION_KINDS)
    pointers.begin(
      'kind',
      kindOwner(kind),
      before.counter(`transactions:${kind}`, sums => sums.kinds[kind]),
      totals.kinds[kind],
    )
  for (const [address, sums] of totals.accounts) {
    const rows = before.account(address)
    pointers.begin('sender', address, rows.sent, sums.sent)
    pointers.begin('recipient', address, rows.received, sums.received)
    pointers.begin('party', address, rows.transactions, sums.transactions)
    pointers.begin('transfer party', address, rows.transfers, sums.transfers)
    pointers.begin('internal party', address, rows.internal, sums.internal)
  }
  for (const [token, { transfers }] of totals.tokens) pointers.begin('token', token, before.token(token), transfers)
  for (const record of records) pointers.add(record)
  await writes.insert('skip_pointer', pointers.rows)
}
