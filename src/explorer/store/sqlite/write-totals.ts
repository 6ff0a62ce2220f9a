import type { Hex } from '../../../util/bytes.ts'
import { balanceFromKey, balanceToKey } from '../balance-key.ts'
import type { AccountTotals, DayTotals, IndexTotals, ProducerTotals, TokenTotals } from '../index-totals.ts'
import { TOKEN_STANDARDS, TRANSACTION_KINDS } from '../records.ts'
import { bigintColumn, blobOf, blobOrNull, numberColumn, type SqliteDatabase } from './database.ts'

/** Number of days before the newest one whose addresses are kept, so that each is counted once per day. */
export const KEPT_DAYS = 2

/** Adds the sums of new blocks to the running ones. */
export const addTotals = (database: SqliteDatabase, totals: IndexTotals): void => {
  const add = (name: string, by: number): void => addCounter(database, name, by)
  add('blocks', totals.blocks)
  add('transactions', totals.transactions)
  add('transfers', totals.transfers)
  add('internal', totals.internal)
  add('proofs', totals.proofs)
  for (const kind of TRANSACTION_KINDS) add(`transactions:${kind}`, totals.kinds[kind])
  for (const [number, day] of totals.days) addDay(database, number, day)
  for (const [address, sums] of totals.accounts) addAccount(database, address, sums)
  for (const [address, sums] of totals.tokens) addToken(database, address, sums)
  for (const [token, owners] of totals.holders) addHolders(database, token, owners)
  for (const [address, sums] of totals.producers) addProducer(database, address, sums, 1)
  addProofs(database, totals, 1)
  if (totals.days.size > 0)
    database.run('DELETE FROM day_address WHERE day < ?', Math.max(...totals.days.keys()) - KEPT_DAYS)
}

/** `sign` -1 takes the sums off; a producer without blocks has no row. */
export const addProducer = (database: SqliteDatabase, address: Hex, sums: ProducerTotals, sign: 1 | -1): void => {
  const blob = blobOf(address)
  const row = database.get('SELECT * FROM producer WHERE address = ?', blob)
  const count = (name: string, by: number): number => (row === undefined ? 0 : numberColumn(row, name)) + sign * by
  const wei = (name: string, by: bigint): string =>
    ((row === undefined ? 0n : bigintColumn(row, name)) + BigInt(sign) * by).toString()
  const [mined, proposed] = [count('mined', sums.mined), count('proposed', sums.proposed)]
  if (mined === 0 && proposed === 0) {
    database.run('DELETE FROM producer WHERE address = ?', blob)
    return
  }
  database.run(
    'INSERT OR REPLACE INTO producer (address, mined, proposed, mined_wei, proposed_wei) VALUES (?, ?, ?, ?, ?)',
    blob,
    mined,
    proposed,
    wei('mined_wei', sums.minedWei),
    wei('proposed_wei', sums.proposedWei),
  )
}

/** `sign` -1 takes the sums off; an hour, or a miner's day, without headers has no row. */
export const addProofs = (database: SqliteDatabase, { proofHours, proofMiners }: IndexTotals, sign: 1 | -1): void => {
  for (const [hour, { headers, work }] of proofHours) {
    const row = database.get('SELECT headers, work FROM proof_hour WHERE hour = ?', hour)
    const sum = (row === undefined ? 0 : numberColumn(row, 'headers')) + sign * headers
    const hashes = (row === undefined ? 0n : bigintColumn(row, 'work')) + BigInt(sign) * work
    database.run('DELETE FROM proof_hour WHERE hour = ?', hour)
    if (sum > 0)
      database.run('INSERT INTO proof_hour (hour, headers, work) VALUES (?, ?, ?)', hour, sum, hashes.toString())
  }
  for (const [day, miners] of proofMiners)
    for (const [miner, headers] of miners) {
      database.run(
        `INSERT INTO proof_miner (day, miner, headers) VALUES (?, ?, ?)
         ON CONFLICT (day, miner) DO UPDATE SET headers = proof_miner.headers + excluded.headers`,
        day,
        blobOf(miner),
        sign * headers,
      )
      if (sign < 0) database.run('DELETE FROM proof_miner WHERE day = ? AND headers = 0', day)
    }
}

export const addCounter = (database: SqliteDatabase, name: string, by: number): void => {
  if (by === 0) return
  database.run(
    'INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
    name,
    by,
  )
}

const addDay = (database: SqliteDatabase, number: number, day: DayTotals): void => {
  const before = database.get('SELECT gas_used, value, fees, burnt, gas_prices FROM day WHERE day = ?', number)
  const sum = (name: string, by: bigint): string => ((before ? bigintColumn(before, name) : 0n) + by).toString()
  let active = 0
  const insert = database.statement(
    `INSERT INTO day_address (day, address, transactions) VALUES (?, ?, ?) ON CONFLICT (day, address) DO NOTHING`,
  )
  const update = database.statement(
    'UPDATE day_address SET transactions = transactions + ? WHERE day = ? AND address = ?',
  )
  for (const [address, count] of day.active) {
    const blob = blobOf(address)
    if (insert.run(number, blob, count).changes === 1) active++
    else update.run(count, number, blob)
  }
  database.run(
    `INSERT INTO day (day, blocks, transactions, gas_used, value, fees, burnt, gas_prices, first_timestamp, last_timestamp, active,
       new_addresses, new_contracts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)
     ON CONFLICT (day) DO UPDATE SET blocks = blocks + excluded.blocks, transactions = transactions + excluded.transactions,
       gas_used = excluded.gas_used, value = excluded.value, fees = excluded.fees, burnt = excluded.burnt,
       gas_prices = excluded.gas_prices, last_timestamp = excluded.last_timestamp, active = active + excluded.active`,
    number,
    day.blocks,
    day.transactions,
    sum('gas_used', day.gasUsed),
    sum('value', day.valueWei),
    sum('fees', day.feesWei),
    sum('burnt', day.burntWei),
    sum('gas_prices', day.gasPriceSum),
    day.firstTimestamp,
    day.lastTimestamp,
    active,
  )
}

const UPDATE_ACCOUNT = `UPDATE account SET transactions = transactions + ?, sent = sent + ?, received = received + ?, transfers = transfers + ?,
  internal = internal + ?, last_block = ? WHERE address = ?`
const INSERT_ACCOUNT = `INSERT INTO account (address, transactions, sent, received, transfers, internal, is_contract, first_block, last_block)
  VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)`

const addAccount = (database: SqliteDatabase, address: Hex, sums: AccountTotals): void => {
  const { transactions, sent, received, transfers, internal, firstBlock, lastBlock } = sums
  const blob = blobOf(address)
  const update = database.statement(UPDATE_ACCOUNT)
  if (update.run(transactions, sent, received, transfers, internal, lastBlock, blob).changes === 0) {
    const insert = database.statement(INSERT_ACCOUNT)
    insert.run(blob, transactions, sent, received, transfers, internal, firstBlock, lastBlock)
    addCounter(database, 'addresses', 1)
    database.run('UPDATE day SET new_addresses = new_addresses + 1 WHERE day = ?', sums.firstDay)
  }
  if (sums.contractDay !== null) markContract(database, blob, sums)
}

const markContract = (database: SqliteDatabase, blob: Uint8Array, { creation, contractDay }: AccountTotals): void => {
  if (database.run('UPDATE account SET is_contract = 1 WHERE address = ? AND is_contract = 0', blob) === 1) {
    addCounter(database, 'contracts', 1)
    database.run('UPDATE day SET new_contracts = new_contracts + 1 WHERE day = ?', contractDay)
  }
  if (creation !== null)
    database.run(
      'UPDATE account SET creator = ?, creation = ? WHERE address = ?',
      blobOf(creation.creator),
      blobOrNull(creation.transaction),
      blob,
    )
}

const addToken = (database: SqliteDatabase, address: Hex, sums: TokenTotals): void => {
  const blob = blobOf(address)
  const stale = sums.supplyChanged ? 1 : 0
  const updated = database.run(
    'UPDATE token SET transfers = transfers + ?, is_stale = max(is_stale, ?) WHERE address = ?',
    sums.transfers,
    stale,
    blob,
  )
  if (updated === 1) return
  const standard = TOKEN_STANDARDS.indexOf(sums.standard)
  database.run(
    'INSERT INTO token (address, standard, transfers, holders, is_stale) VALUES (?, ?, ?, 0, 1)',
    blob,
    standard,
    sums.transfers,
  )
  addCounter(database, 'tokens', 1)
}

/** Also subtracts: amounts may be negative. A sum of 0 has no row, and only one above 0 counts as a holder. */
export const addHolders = (database: SqliteDatabase, token: Hex, owners: ReadonlyMap<Hex, bigint>): void => {
  const blob = blobOf(token)
  const select = database.statement('SELECT balance FROM holder WHERE token = ? AND owner = ?')
  const put = database.statement(
    'INSERT INTO holder (token, owner, balance) VALUES (?, ?, ?) ON CONFLICT (token, owner) DO UPDATE SET balance = excluded.balance',
  )
  let holders = 0
  for (const [owner, by] of owners) {
    if (by === 0n) continue
    const ownerBlob = blobOf(owner)
    const row = select.get(blob, ownerBlob)
    const before = row === undefined ? 0n : balanceFromKey(row['balance'] as Uint8Array)
    const after = before + by
    if (after === 0n) database.run('DELETE FROM holder WHERE token = ? AND owner = ?', blob, ownerBlob)
    else put.run(blob, ownerBlob, balanceToKey(after))
    holders += (after > 0n ? 1 : 0) - (before > 0n ? 1 : 0)
  }
  if (holders !== 0) database.run('UPDATE token SET holders = holders + ? WHERE address = ?', holders, blob)
}

export const counterValue = (database: SqliteDatabase, name: string): number => {
  const row = database.get('SELECT value FROM counter WHERE name = ?', name)
  return row === undefined ? 0 : numberColumn(row, 'value')
}
