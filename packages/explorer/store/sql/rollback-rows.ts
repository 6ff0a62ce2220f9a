import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import {
  ACCOUNT_SUMS,
  type AccountTotals,
  type DayTotals,
  type IndexTotals,
  otherTransfers,
  rowCounts,
  type TokenTotals,
} from '../index-totals.ts'
import { dayOf, INTERNAL_KINDS, TOKEN_STANDARDS } from '../records.ts'
import { BLOCK_TABLES } from './schema.ts'
import { blobOf, hexColumn, numberColumn, type SqlRow, type SqlWrites } from './sql-database.ts'
import { sumsOf } from './sums.ts'
import { addCounters, addHolders, addPlainSums, daySums, KEPT_DAYS } from './write-totals.ts'

/** Empties every table derived from blocks. */
export const clearBlocks = async (writes: SqlWrites): Promise<void> => {
  for (const table of BLOCK_TABLES) await writes.run(`DELETE FROM ${table}`)
  await writes.run('DELETE FROM search WHERE kind = 0')
}

/**
 * Removes the blocks above a number from the index: deletes their rows, and subtracts `totals`, computed from those rows, from the running
 * sums. Values that are not sums (first and last block, creator of a contract) are read again from the remaining rows.
 */
export const removeBlocks = async (writes: SqlWrites, number: number, totals: IndexTotals): Promise<void> => {
  for (const table of ['transfer', 'internal', 'failed', 'proof', 'skip_pointer', 'tx'])
    await writes.run(`DELETE FROM ${table} WHERE block > ?`, number)
  await writes.run('DELETE FROM block WHERE number > ?', number)
  await addCounters(writes, new Map(rowCounts(totals).map(([name, by]) => [name, -by])))
  for (const [token, holders] of await addHolders(writes, totals.holders, -1))
    await writes.run('UPDATE token SET holders = holders + ? WHERE address = ?', holders, blobOf(token))
  for (const [token, sums] of totals.tokens) await removeFromToken(writes, token, sums)
  for (const [address, sums] of totals.accounts) await removeFromAccount(writes, address, sums)
  for (const [day, sums] of totals.days) await removeFromDay(writes, day, sums)
  await addPlainSums(writes, totals, -1)
  await recountDays(writes)
}

const removeFromToken = async (writes: SqlWrites, address: Hex, sums: TokenTotals): Promise<void> => {
  const blob = blobOf(address)
  const others = TOKEN_STANDARDS.map(standard => otherTransfers(sums, standard))
  await writes.run(
    `UPDATE token SET transfers = transfers - ?, is_stale = 1,
       other_transfers = other_transfers - CASE standard ${others.map((_, at) => `WHEN ${at} THEN CAST(? AS BIGINT)`).join(' ')} END WHERE address = ?`,
    sums.transfers,
    ...others,
    blob,
  )
  if ((await writes.run('DELETE FROM token WHERE address = ? AND transfers = 0', blob)) === 0) return
  await addCounters(writes, new Map([['tokens', -1]]))
  await writes.run('DELETE FROM search WHERE kind = 0 AND address = ?', blob)
}

const removeFromAccount = async (writes: SqlWrites, address: Hex, sums: AccountTotals): Promise<void> => {
  const blob = blobOf(address)
  const wasContract =
    (await writes.get('SELECT is_contract FROM account WHERE address = ?', blob))?.['is_contract'] === 1
  await writes.run(
    `UPDATE account SET ${ACCOUNT_SUMS.map(name => `${name} = ${name} - ?`)} WHERE address = ?`,
    ...ACCOUNT_SUMS.map(name => sums[name]),
    blob,
  )
  const contractDay = wasContract && sums.contractDay !== null ? await keepContract(writes, blob, sums) : null
  const last = await lastBlock(writes, address)
  if (contractDay !== null) {
    await addCounters(writes, new Map([['contracts', -1]]))
    await writes.run('UPDATE day SET new_contracts = new_contracts - 1 WHERE day = ?', contractDay)
  }
  if (last !== null) {
    await writes.run('UPDATE account SET last_block = ? WHERE address = ?', last, blob)
    return
  }
  await writes.run('DELETE FROM account WHERE address = ?', blob)
  await addCounters(writes, new Map([['addresses', -1]]))
  await writes.run('UPDATE day SET new_addresses = new_addresses - 1 WHERE day = ?', sums.firstDay)
}

/** Returns the day on which it became a contract, when the remaining rows no longer show that; null: they still do. */
const keepContract = async (writes: SqlWrites, blob: Uint8Array, sums: AccountTotals): Promise<number | null> => {
  if (sums.creation !== null) await restoreCreation(writes, blob)
  const created = await writes.get('SELECT creator FROM account WHERE address = ?', blob)
  const isToken = (await writes.get('SELECT 1 AS found FROM token WHERE address = ?', blob)) !== undefined
  if (created?.['creator'] != null || isToken) return null
  await writes.run('UPDATE account SET is_contract = 0 WHERE address = ?', blob)
  return sums.contractDay
}

const CREATIONS_OF = [
  'SELECT block, idx, sender, hash FROM tx WHERE party = ? AND created = ? ORDER BY block DESC, idx DESC LIMIT 1',
  `SELECT i.block, i.idx, i.sender, tx.hash FROM internal i JOIN tx ON tx.block = i.block AND tx.idx = i.idx
   WHERE i.recipient = ? AND i.kind = ? ORDER BY i.block DESC, i.idx DESC, i.place DESC LIMIT 1`,
] as const

/** The newest creation that remains: an address may be created again after a self-destruct. */
const restoreCreation = async (writes: SqlWrites, blob: Uint8Array): Promise<void> => {
  const byTransaction = await writes.get(CREATIONS_OF[0], blob, blob)
  const byContract = await writes.get(CREATIONS_OF[1], blob, INTERNAL_KINDS.indexOf('create'))
  const newest = byContract ?? byTransaction
  const values = [newest?.['sender'] ?? null, newest?.['hash'] ?? null]
  await writes.run('UPDATE account SET creator = ?, creation = ? WHERE address = ?', ...values, blob)
}

const LAST_OF = [
  'SELECT max(block) AS last FROM tx WHERE sender = ?',
  'SELECT max(block) AS last FROM tx WHERE party = ?',
  'SELECT max(block) AS last FROM internal WHERE sender = ?',
  'SELECT max(block) AS last FROM internal WHERE recipient = ?',
  'SELECT max(block) AS last FROM transfer WHERE token = ?',
]
const LAST_TRANSFER_OF = [
  'SELECT max(block) AS last FROM transfer WHERE sender = ?',
  'SELECT max(block) AS last FROM transfer WHERE recipient = ?',
]

/** Newest remaining block that counts for an account. Mints and burns name the zero address, and count for no account (`addToTotals`). */
const lastBlock = async (writes: SqlWrites, address: Hex): Promise<number | null> => {
  let found: number | null = null
  for (const sql of address === ZERO_ADDRESS ? LAST_OF : [...LAST_OF, ...LAST_TRANSFER_OF]) {
    const last = (await writes.get(sql, blobOf(address)))?.['last']
    if (typeof last === 'number') found = Math.max(found ?? 0, last)
  }
  return found
}

const removeFromDay = async (writes: SqlWrites, number: number, day: DayTotals): Promise<void> => {
  const row = (await writes.get('SELECT * FROM day WHERE day = ?', number)) as SqlRow
  if (numberColumn(row, 'blocks') === day.blocks) {
    await writes.run('DELETE FROM day WHERE day = ?', number)
    return
  }
  const newest = (await writes.get('SELECT timestamp FROM block ORDER BY number DESC LIMIT 1')) as SqlRow
  await writes.put('day', [
    { ...row, ...sumsOf(row, daySums(day), -1), last_timestamp: numberColumn(newest, 'timestamp') },
  ])
}

/** Recounts the addresses of the newest days, which may have been dropped when blocks with much later times were added. */
const recountDays = async (writes: SqlWrites): Promise<void> => {
  await writes.run('DELETE FROM day_address')
  const newest = await writes.get('SELECT timestamp FROM block ORDER BY number DESC LIMIT 1')
  if (newest === undefined) return
  const from = dayOf(numberColumn(newest, 'timestamp')) - KEPT_DAYS
  await writes.run(
    `INSERT INTO day_address (day, address, transactions)
     SELECT timestamp / 86400, address, count(*) FROM (
       SELECT timestamp, sender AS address FROM block JOIN tx ON tx.block = number WHERE timestamp >= ? * 86400
       UNION ALL
       SELECT timestamp, party FROM block JOIN tx ON tx.block = number
         WHERE timestamp >= ? * 86400 AND party IS NOT NULL AND party <> sender) AS parties
     GROUP BY 1, 2`,
    from,
    from,
  )
  await writes.run(
    'UPDATE day SET active = (SELECT count(*) FROM day_address a WHERE a.day = day.day) WHERE day >= ?',
    from,
  )
}

/** Hash of the newest block after a rollback. */
export const hashOfBlock = async (writes: SqlWrites, number: number): Promise<Hex | undefined> => {
  const row = await writes.get('SELECT hash FROM block WHERE number = ?', number)
  return row && hexColumn(row, 'hash')
}
