import { INTERNAL_KINDS } from '../../../primitives/receipt/internal-transfer.ts'
import type { Hex } from '../../../util/bytes.ts'
import type { AccountTotals, DayTotals, IndexTotals } from '../index-totals.ts'
import { dayOf, TRANSACTION_KINDS } from '../records.ts'
import { bigintColumn, blobOf, hexColumn, numberColumn, type SqliteDatabase, type SqlRow } from './database.ts'
import { BLOCK_TABLES } from './schema.ts'
import { addCounter, addHolders, addProducer, addProofs, KEPT_DAYS } from './write-totals.ts'

/** Empties every table derived from blocks. */
export const clearBlocks = (database: SqliteDatabase): void => {
  for (const table of BLOCK_TABLES) database.run(`DELETE FROM ${table}`)
  database.run('DELETE FROM search WHERE kind = 0')
}

/**
 * Removes the blocks above a number from the index: deletes their rows, and subtracts `totals`, computed from those rows, from the running
 * sums. Values that are not sums (first and last block, creator of a contract) are read again from the remaining rows.
 */
export const removeBlocks = (database: SqliteDatabase, number: number, totals: IndexTotals): void => {
  for (const table of ['transfer', 'internal', 'proof', 'tx'])
    database.run(`DELETE FROM ${table} WHERE block > ?`, number)
  database.run('DELETE FROM block WHERE number > ?', number)
  addCounter(database, 'blocks', -totals.blocks)
  addCounter(database, 'transactions', -totals.transactions)
  addCounter(database, 'transfers', -totals.transfers)
  addCounter(database, 'internal', -totals.internal)
  addCounter(database, 'proofs', -totals.proofs)
  for (const kind of TRANSACTION_KINDS) addCounter(database, `transactions:${kind}`, -totals.kinds[kind])
  for (const [token, owners] of totals.holders)
    addHolders(database, token, new Map([...owners].map(([owner, by]) => [owner, -by])))
  for (const [token, { transfers }] of totals.tokens) removeFromToken(database, token, transfers)
  for (const [address, sums] of totals.accounts) removeFromAccount(database, address, sums)
  for (const [day, sums] of totals.days) removeFromDay(database, day, sums)
  for (const [address, sums] of totals.producers) addProducer(database, address, sums, -1)
  addProofs(database, totals, -1)
  recountDays(database)
}

const removeFromToken = (database: SqliteDatabase, address: Hex, transfers: number): void => {
  const blob = blobOf(address)
  database.run('UPDATE token SET transfers = transfers - ?, is_stale = 1 WHERE address = ?', transfers, blob)
  if (database.run('DELETE FROM token WHERE address = ? AND transfers = 0', blob) === 0) return
  addCounter(database, 'tokens', -1)
  database.run('DELETE FROM search WHERE kind = 0 AND address = ?', blob)
}

const removeFromAccount = (database: SqliteDatabase, address: Hex, sums: AccountTotals): void => {
  const blob = blobOf(address)
  const wasContract = database.get('SELECT is_contract FROM account WHERE address = ?', blob)?.['is_contract'] === 1
  database.run(
    `UPDATE account SET transactions = transactions - ?, sent = sent - ?, received = received - ?, transfers = transfers - ?,
      internal = internal - ? WHERE address = ?`,
    sums.transactions,
    sums.sent,
    sums.received,
    sums.transfers,
    sums.internal,
    blob,
  )
  const contractDay = wasContract && sums.contractDay !== null ? keepContract(database, blob, sums) : null
  const last = lastBlock(database, blob)
  if (contractDay !== null) {
    addCounter(database, 'contracts', -1)
    database.run('UPDATE day SET new_contracts = new_contracts - 1 WHERE day = ?', contractDay)
  }
  if (last !== null) {
    database.run('UPDATE account SET last_block = ? WHERE address = ?', last, blob)
    return
  }
  database.run('DELETE FROM account WHERE address = ?', blob)
  addCounter(database, 'addresses', -1)
  database.run('UPDATE day SET new_addresses = new_addresses - 1 WHERE day = ?', sums.firstDay)
}

/** Returns the day on which it became a contract, when the remaining rows no longer show that; null: they still do. */
const keepContract = (database: SqliteDatabase, blob: Uint8Array, sums: AccountTotals): number | null => {
  if (sums.creation !== null) restoreCreation(database, blob)
  const created = database.get('SELECT creator FROM account WHERE address = ?', blob)
  const isToken = database.get('SELECT 1 AS found FROM token WHERE address = ?', blob) !== undefined
  if (created?.['creator'] != null || isToken) return null
  database.run('UPDATE account SET is_contract = 0 WHERE address = ?', blob)
  return sums.contractDay
}

const CREATIONS_OF = [
  'SELECT block, idx, sender, hash FROM tx WHERE party = ? AND created = ? ORDER BY block DESC, idx DESC LIMIT 1',
  `SELECT i.block, i.idx, i.sender, tx.hash FROM internal i JOIN tx ON tx.block = i.block AND tx.idx = i.idx
   WHERE i.recipient = ? AND i.kind = ? ORDER BY i.block DESC, i.idx DESC, i.place DESC LIMIT 1`,
] as const

/** The newest creation that remains: an address may be created again after a self-destruct. */
const restoreCreation = (database: SqliteDatabase, blob: Uint8Array): void => {
  const byTransaction = database.get(CREATIONS_OF[0], blob, blob)
  const byContract = database.get(CREATIONS_OF[1], blob, INTERNAL_KINDS.indexOf('create'))
  const newest = byContract ?? byTransaction
  const values = [newest?.['sender'] ?? null, newest?.['hash'] ?? null]
  database.run('UPDATE account SET creator = ?, creation = ? WHERE address = ?', ...values, blob)
}

const LAST_OF = [
  'SELECT max(block) AS last FROM tx WHERE sender = ?',
  'SELECT max(block) AS last FROM tx WHERE party = ?',
  'SELECT max(block) AS last FROM internal WHERE sender = ?',
  'SELECT max(block) AS last FROM internal WHERE recipient = ?',
  'SELECT max(block) AS last FROM transfer WHERE sender = ?',
  'SELECT max(block) AS last FROM transfer WHERE recipient = ?',
  'SELECT max(block) AS last FROM transfer WHERE token = ?',
]

const lastBlock = (database: SqliteDatabase, blob: Uint8Array): number | null => {
  const found = LAST_OF.map(sql => database.get(sql, blob)?.['last']).filter(last => typeof last === 'number')
  return found.length === 0 ? null : Math.max(...found)
}

const removeFromDay = (database: SqliteDatabase, number: number, day: DayTotals): void => {
  const row = database.get('SELECT * FROM day WHERE day = ?', number) as SqlRow
  if (numberColumn(row, 'blocks') === day.blocks) {
    database.run('DELETE FROM day WHERE day = ?', number)
    return
  }
  const newest = database.get('SELECT timestamp FROM block ORDER BY number DESC LIMIT 1') as SqlRow
  const less = (name: string, by: bigint): string => (bigintColumn(row, name) - by).toString()
  database.run(
    `UPDATE day SET blocks = blocks - ?, transactions = transactions - ?, gas_used = ?, value = ?, fees = ?, burnt = ?, gas_prices = ?,
       last_timestamp = ? WHERE day = ?`,
    day.blocks,
    day.transactions,
    less('gas_used', day.gasUsed),
    less('value', day.valueWei),
    less('fees', day.feesWei),
    less('burnt', day.burntWei),
    less('gas_prices', day.gasPriceSum),
    numberColumn(newest, 'timestamp'),
    number,
  )
}

/** Recounts the addresses of the newest days, which may have been dropped when blocks with much later times were added. */
const recountDays = (database: SqliteDatabase): void => {
  database.run('DELETE FROM day_address')
  const newest = database.get('SELECT timestamp FROM block ORDER BY number DESC LIMIT 1')
  if (newest === undefined) return
  const from = dayOf(numberColumn(newest, 'timestamp')) - KEPT_DAYS
  database.run(
    `INSERT INTO day_address (day, address, transactions)
     SELECT timestamp / 86400, address, count(*) FROM (
       SELECT timestamp, sender AS address FROM block JOIN tx ON tx.block = number WHERE timestamp >= ?1 * 86400
       UNION ALL
       SELECT timestamp, party FROM block JOIN tx ON tx.block = number
         WHERE timestamp >= ?1 * 86400 AND party IS NOT NULL AND party <> sender)
     GROUP BY 1, 2`,
    from,
  )
  database.run(
    'UPDATE day SET active = (SELECT count(*) FROM day_address a WHERE a.day = day.day) WHERE day >= ?',
    from,
  )
}

/** Hash of the newest block after a rollback. */
export const hashOfBlock = (database: SqliteDatabase, number: number): Hex | undefined => {
  const row = database.get('SELECT hash FROM block WHERE number = ?', number)
  return row && hexColumn(row, 'hash')
}
