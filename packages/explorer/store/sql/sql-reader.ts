import type { Hex } from '@tandem/base/bytes.ts'
import { balanceToKey } from '../balance-key.ts'
import { BatchedLookUp } from '../batched-look-up.ts'
import type {
  InternalFilter,
  ListRange,
  Page,
  PageKey,
  PageRequest,
  SearchRow,
  TransactionFilter,
  TransferFilter,
} from '../index-query.ts'
import { type IndexPosition, REWARD_ROLES, TRANSACTION_KINDS, type TransactionKind } from '../records.ts'
import { listInternal, listTransactions, listTransfers, SELECT_INTERNAL, SELECT_TRANSACTION } from './lists.ts'
import {
  type RewardRow,
  type TokenRow,
  type TransactionRow,
  toAccountRow,
  toBlockRow,
  toDayRow,
  toFailedRow,
  toHolderRow,
  toInternalRow,
  toProducerRow,
  toProofRow,
  toRewardRow,
  toTokenRow,
  toTransactionRow,
} from './rows.ts'
import {
  bigintColumn,
  blobOf,
  hexColumn,
  numberColumn,
  type SqlDatabase,
  type SqlRow,
  type SqlValue,
} from './sql-database.ts'
import { storedCounters } from './write-totals.ts'

/** Reads of an index, each consistent in itself. A separate connection reads the last committed state while another writes. */
export class SqlReader {
  readonly database: SqlDatabase
  readonly #tokens = new BatchedLookUp<Hex, TokenRow>(async addresses => {
    const rows = await this.#rowsOf('token', addresses.map(blobOf))
    return new Map(rows.map(toTokenRow).map(token => [token.address, token]))
  })
  readonly #labels = new BatchedLookUp<Hex, string>(async addresses => {
    const rows = await this.#rowsOf('label', addresses.map(blobOf))
    return new Map(rows.map(row => [hexColumn(row, 'address'), row['name'] as string]))
  })

  /** By number of the block and index in it. */
  readonly #transactions = new BatchedLookUp<string, TransactionRow>(async places => {
    const keys = places.map(place => place.split(' ').map(Number))
    const rows = await this.database.lookUp(`${SELECT_TRANSACTION} WHERE tx.block = ? AND tx.idx = ?`, keys)
    return new Map(rows.map(toTransactionRow).map(row => [`${row.blockNumber} ${row.index}`, row]))
  })

  constructor(database: SqlDatabase) {
    this.database = database
  }

  async position(): Promise<IndexPosition | undefined> {
    const row = await this.database.get('SELECT number, hash FROM position')
    return row && { number: numberColumn(row, 'number'), hash: hexColumn(row, 'hash') }
  }

  async counters() {
    const counters = await storedCounters(this.database)
    const value = (name: string): number => counters.get(name) ?? 0
    return {
      blocks: value('blocks'),
      transactions: value('transactions'),
      transfers: value('transfers'),
      internal: value('internal'),
      proofs: value('proofs'),
      addresses: value('addresses'),
      contracts: value('contracts'),
      tokens: value('tokens'),
      kinds: Object.fromEntries(TRANSACTION_KINDS.map(kind => [kind, value(`transactions:${kind}`)])) as Readonly<
        Record<TransactionKind, number>
      >,
    }
  }

  async blocks(page: PageRequest) {
    // No number is missing below that of the position, so that an offset is a number.
    const behind = page.after === null && page.offset > 0 ? await this.position() : undefined
    const after = behind === undefined ? page.after : [behind.number + 1 - page.offset]
    const rows = await this.#list('SELECT * FROM block', 'number', 'number DESC', page, after)
    return pageOf(rows.map(toBlockRow), page.limit, ({ number }) => [number])
  }

  async block(number: number) {
    const row = await this.database.get('SELECT * FROM block WHERE number = ?', number)
    return row && toBlockRow(row)
  }

  /** Newest first. */
  async transactions(filter: TransactionFilter, page: PageRequest) {
    return listTransactions(this.database, filter, page)
  }

  async transaction(number: number, index: number) {
    return this.#transactions.get(`${number} ${index}`)
  }

  async transfers(filter: TransferFilter, page: PageRequest) {
    return listTransfers(this.database, filter, page)
  }

  async internalTransfers(filter: InternalFilter, page: PageRequest) {
    return listInternal(this.database, filter, page)
  }

  async internalOfTransaction(number: number, index: number, limit: number) {
    const sql = `${SELECT_INTERNAL} WHERE i.block = ? AND i.idx = ? ORDER BY i.place LIMIT ?`
    return (await this.database.all(sql, number, index, limit)).map(toInternalRow)
  }

  /** Cause of a transaction's failure; undefined: it succeeded, or the node did not know. */
  async failedExecution(number: number, index: number) {
    const row = await this.database.get('SELECT * FROM failed WHERE block = ? AND idx = ?', number, index)
    return row && toFailedRow(row)
  }

  /** Blocks that an address mined or proposed, newest first. */
  async blocksBy(
    role: 'miner' | 'proposer',
    address: Hex,
    page: PageRequest,
    { fromBlock = 0, toBlock = Number.MAX_SAFE_INTEGER }: ListRange = {},
  ) {
    const last = page.after?.[0] as number | undefined
    const [from, to] = page.ascending ? [(last ?? -1) + 1, undefined] : [0, last === undefined ? undefined : last - 1]
    const keys = await this.database.all(
      `SELECT number FROM block WHERE ${role} = ? AND number BETWEEN ? AND ? ORDER BY number ${page.ascending ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
      blobOf(address),
      Math.max(from, fromBlock),
      Math.min(to ?? toBlock, toBlock),
      page.limit + 1,
      page.after === null ? page.offset : 0,
    )
    const numbers = keys.map(row => [numberColumn(row, 'number')])
    const rows = await this.database.lookUp('SELECT * FROM block WHERE number = ?', numbers)
    return pageOf(rows.map(toBlockRow), page.limit, ({ number }) => [number])
  }

  /** Newest first. */
  async proofHeaders(page: PageRequest) {
    const rows = await this.#list('SELECT * FROM proof', 'height', 'height DESC', page, page.after)
    return pageOf(rows.map(toProofRow), page.limit, ({ height }) => [height])
  }

  /** Oldest first; hours without headers are left out. */
  async proofHours(fromHour: number) {
    const rows = await this.database.all('SELECT * FROM proof_hour WHERE hour >= ? ORDER BY hour', fromHour)
    return rows.map(row => ({
      hour: numberColumn(row, 'hour'),
      headers: numberColumn(row, 'headers'),
      work: bigintColumn(row, 'work'),
    }))
  }

  /** Oldest first; days without headers are left out. */
  async proofDays(fromDay: number) {
    const sql = `SELECT day, count(*) AS miners, CAST(sum(headers) AS BIGINT) AS headers FROM proof_miner
      WHERE day >= ? GROUP BY day ORDER BY day`
    return (await this.database.all(sql, fromDay)).map(row => ({
      day: numberColumn(row, 'day'),
      headers: numberColumn(row, 'headers'),
      miners: numberColumn(row, 'miners'),
    }))
  }

  async account(address: Hex) {
    const row = await this.database.get('SELECT * FROM account WHERE address = ?', blobOf(address))
    return row && toAccountRow(row)
  }

  /** undefined: it made no block. */
  async producer(address: Hex) {
    const row = await this.database.get('SELECT * FROM producer WHERE address = ?', blobOf(address))
    return row && toProducerRow(row)
  }

  /** Earnings of an address by cycle, newest first. */
  async rewardsOf(address: Hex, page: PageRequest) {
    const bound = page.after === null ? '' : 'AND (cycle, role) < (?, ?)'
    const rows = await this.database.all(
      `SELECT * FROM reward WHERE address = ? ${bound} ORDER BY cycle DESC, role DESC LIMIT ? OFFSET ?`,
      blobOf(address),
      ...((page.after ?? []) as readonly number[]),
      page.limit + 1,
      page.after === null ? page.offset : 0,
    )
    const key = ({ cycle, role }: RewardRow): PageKey => [cycle, REWARD_ROLES.indexOf(role)]
    return pageOf(rows.map(toRewardRow), page.limit, key)
  }

  /** Earnings of a cycle, by role and address. */
  async rewardsOfCycle(cycle: number) {
    const rows = await this.database.all('SELECT * FROM reward WHERE cycle = ? ORDER BY role, address', cycle)
    return rows.map(toRewardRow)
  }

  /** Ordered by transactions, then by address. */
  async topAccounts(page: PageRequest) {
    const after = page.after && [page.after[0] as number, blobOf(page.after[1] as Hex)]
    const keys = await this.#list(
      'SELECT address FROM account',
      '(transactions, address)',
      'transactions DESC, address DESC',
      page,
      after,
    )
    const rows = await this.#rowsOf('account', addressesOf(keys))
    return pageOf(rows.map(toAccountRow), page.limit, ({ transactions, address }) => [transactions, address])
  }

  /** Ordered by transfers, then by address. */
  async tokens(page: PageRequest) {
    const after = page.after && [page.after[0] as number, blobOf(page.after[1] as Hex)]
    const keys = await this.#list(
      'SELECT address FROM token',
      '(transfers, address)',
      'transfers DESC, address DESC',
      page,
      after,
    )
    const rows = await this.#rowsOf('token', addressesOf(keys))
    return pageOf(rows.map(toTokenRow), page.limit, ({ transfers, address }) => [transfers, address])
  }

  async token(address: Hex) {
    return this.#tokens.get(address)
  }

  /** Ordered by balance, then by address; only balances above 0. */
  async holders(token: Hex, page: PageRequest) {
    const [balance, owner] = page.after ?? []
    const bound = page.after === null ? '' : 'AND (balance, owner) < (?, ?)'
    const values: SqlValue[] =
      page.after === null ? [] : [balanceToKey(BigInt(balance as string)), blobOf(owner as Hex)]
    const rows = await this.database.all(
      `SELECT owner, balance FROM holder WHERE token = ? ${bound} ORDER BY balance DESC, owner DESC LIMIT ? OFFSET ?`,
      blobOf(token),
      ...values,
      page.limit + 1,
      page.after === null ? page.offset : 0,
    )
    return pageOf(rows.map(toHolderRow), page.limit, row => [row.balance.toString(), row.owner])
  }

  /** undefined: the owner never had any, or has none. */
  async balanceOf(token: Hex, owner: Hex): Promise<bigint | undefined> {
    const row = await this.database.get(
      'SELECT owner, balance FROM holder WHERE token = ? AND owner = ?',
      blobOf(token),
      blobOf(owner),
    )
    return row && toHolderRow(row).balance
  }

  /** The last block not after a time, or the first not before it. */
  async blockAt(timestamp: number, side: 'before' | 'after'): Promise<number | undefined> {
    // Timestamps never go down with the number, so the place is found by bisection.
    const last = (await this.position())?.number ?? -1
    let [low, high] = [-1, last + 1]
    const isLow = (at: number): boolean => (side === 'before' ? at <= timestamp : at < timestamp)
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const row = await this.database.get('SELECT timestamp FROM block WHERE number = ?', middle)
      if (row !== undefined && isLow(numberColumn(row, 'timestamp'))) low = middle
      else high = middle
    }
    const found = side === 'before' ? low : high
    return found < 0 || found > last ? undefined : found
  }

  async tokenBalances(owner: Hex, limit: number) {
    const rows = await this.database.all(
      `SELECT token.*, holder.owner, holder.balance FROM holder JOIN token ON token.address = holder.token
       WHERE holder.owner = ? ORDER BY holder.token LIMIT ?`,
      blobOf(owner),
      limit,
    )
    return rows.map(row => ({ token: toTokenRow(row), balance: toHolderRow(row).balance }))
  }

  /** Newest first. */
  async days(limit: number) {
    return (await this.database.all('SELECT * FROM day ORDER BY day DESC LIMIT ?', limit)).map(toDayRow)
  }

  /** `prefix` is lower case. */
  async search(prefix: string, limit: number): Promise<readonly SearchRow[]> {
    // No term has this character, and PostgreSQL has no text with it.
    if (prefix.includes('\0')) return []
    // The highest character ends the range of terms with the prefix; LIKE would treat % and _ as wildcards.
    const rows = await this.database.all(
      `SELECT found.address, found.kind, coalesce(token.transfers, 0) AS weight FROM (
         SELECT DISTINCT address, kind FROM (
           SELECT address, kind FROM search WHERE term >= ? AND term < ? ORDER BY term, kind, address LIMIT 300) AS terms
       ) AS found LEFT JOIN token ON found.kind = 0 AND token.address = found.address
       ORDER BY weight DESC, found.address, found.kind LIMIT ?`,
      prefix,
      `${prefix}\u{10FFFF}`,
      limit,
    )
    return rows.map(row => ({ address: hexColumn(row, 'address'), kind: row['kind'] === 0 ? 'token' : 'label' }))
  }

  async label(address: Hex): Promise<string | undefined> {
    return this.#labels.get(address)
  }

  async close(): Promise<void> {
    await this.database.close()
  }

  /** Rows by the addresses that an index gave: an offset then skips entries of the index, and no rows. */
  #rowsOf(table: string, addresses: readonly SqlValue[]) {
    return this.database.lookUp(
      `SELECT * FROM ${table} WHERE address = ?`,
      addresses.map(address => [address]),
    )
  }

  /** Returns the rows after a key (or an offset), one more than the page has. */
  #list(select: string, key: string, order: string, page: PageRequest, after: readonly SqlValue[] | null) {
    if (after === null)
      return this.database.all(`${select} ORDER BY ${order} LIMIT ? OFFSET ?`, page.limit + 1, page.offset)
    const places = after.map(() => '?').join(', ')
    return this.database.all(`${select} WHERE ${key} < (${places}) ORDER BY ${order} LIMIT ?`, ...after, page.limit + 1)
  }
}

const addressesOf = (keys: readonly SqlRow[]): readonly SqlValue[] => keys.map(row => row['address'] as SqlValue)

/** Converts rows with one extra to a page. */
const pageOf = <T>(rows: readonly T[], limit: number, keyOf: (row: T) => PageKey): Page<T> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? keyOf(last) : null }
}
