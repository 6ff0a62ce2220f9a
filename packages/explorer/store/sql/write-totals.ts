import type { Hex } from '@tandem/base/bytes.ts'
import { balanceFromKey, balanceToKey } from '../balance-key.ts'
import {
  type AccountTotals,
  type DayTotals,
  type IndexTotals,
  otherTransfers,
  rowCounts,
  type TokenTotals,
} from '../index-totals.ts'
import { REWARD_ROLES, TOKEN_STANDARDS, type TokenStandard } from '../records.ts'
import { blobOf, hexColumn, numberColumn, type SqlReads, type SqlRow, type SqlWrites } from './sql-database.ts'
import { addSums, sumsOf } from './sums.ts'
import { together } from './together.ts'

/** Number of days before the newest one whose addresses are kept, so that each is counted once per day. */
export const KEPT_DAYS = 2

/** Adds to counts by name or day. */
class Counts<Key> {
  readonly map = new Map<Key, number>()

  add(key: Key, by: number): void {
    this.map.set(key, (this.map.get(key) ?? 0) + by)
  }

  of(key: Key): number {
    return this.map.get(key) ?? 0
  }
}

/** Stored rows of the running sums that blocks change, as they were before; undefined: there was none. */
export interface RowsBefore {
  readonly counters: ReadonlyMap<string, number>
  readonly accounts: Map<Hex, SqlRow | undefined>
  readonly tokens: Map<Hex, SqlRow | undefined>
}

/** Adds the sums of new blocks to the running ones, in bulk. */
export const addTotals = async (writes: SqlWrites, totals: IndexTotals, before: RowsBefore): Promise<void> => {
  const counters = new Counts<string>()
  for (const [name, by] of rowCounts(totals)) counters.add(name, by)
  await together(
    addAccountsAndDays(writes, totals, before, counters),
    addHoldersAndTokens(writes, totals, before, counters),
    addPlainSums(writes, totals, 1),
  )
  await addCounters(writes, counters.map)
}

const addAccountsAndDays = async (
  writes: SqlWrites,
  { accounts, days }: IndexTotals,
  before: RowsBefore,
  counters: Counts<string>,
): Promise<void> => {
  const [active, added] = await together(addActive(writes, days), addAccounts(writes, accounts, before, counters))
  await addDays(writes, days, { active, ...added })
}

const addHoldersAndTokens = async (
  writes: SqlWrites,
  { holders, tokens }: IndexTotals,
  before: RowsBefore,
  counters: Counts<string>,
): Promise<void> => {
  const owners = new Counts<Hex>()
  for (const [token, by] of await addHolders(writes, holders, 1)) owners.add(token, by)
  await addTokens(writes, tokens, before, { owners, counters })
}

/** Rows of a table by an address. */
export const rowsByAddress = async (
  reads: SqlReads,
  table: string,
  addresses: Iterable<Hex>,
): Promise<Map<Hex, SqlRow>> => {
  const keys = [...addresses].map(address => [blobOf(address)])
  const rows = await reads.lookUp(`SELECT * FROM ${table} WHERE address = ?`, keys)
  return new Map(rows.map(row => [hexColumn(row, 'address'), row]))
}

const addAccounts = async (
  writes: SqlWrites,
  accounts: ReadonlyMap<Hex, AccountTotals>,
  before: RowsBefore,
  counters: Counts<string>,
): Promise<{ readonly newAddresses: Counts<number>; readonly newContracts: Counts<number> }> => {
  const [newAddresses, newContracts] = [new Counts<number>(), new Counts<number>()]
  const [added, changed]: [SqlRow[], SqlRow[]] = [[], []]
  for (const [address, sums] of accounts) {
    const found = before.accounts.get(address)
    if (found === undefined) newAddresses.add(sums.firstDay, 1)
    if (sums.contractDay !== null && found?.['is_contract'] !== 1) newContracts.add(sums.contractDay, 1)
    const rows = found === undefined ? added : changed
    rows.push(accountRow(address, found, sums))
  }
  await writes.insert('account', added)
  await writes.put('account', changed)
  for (const by of newAddresses.map.values()) counters.add('addresses', by)
  for (const by of newContracts.map.values()) counters.add('contracts', by)
  return { newAddresses, newContracts }
}

const accountRow = (address: Hex, before: SqlRow | undefined, sums: AccountTotals): SqlRow => {
  const { creation, contractDay, transactions, sent, received, transfers, internal } = sums
  return {
    address,
    ...sumsOf(before, { transactions, sent, received, transfers, internal }),
    is_contract: contractDay !== null || before?.['is_contract'] === 1 ? 1 : 0,
    creator: creation?.creator ?? before?.['creator'] ?? null,
    creation: creation?.transaction ?? before?.['creation'] ?? null,
    first_block: before ? numberColumn(before, 'first_block') : sums.firstBlock,
    last_block: sums.lastBlock,
  }
}

/**
 * Adds movements of tokens, or takes them off (`sign` -1). A sum of 0 has no row, every other counts as a holder, also one below 0, whose owner
 * got what no event told: returns by how many the holders of each token changed.
 */
export const addHolders = async (
  writes: SqlWrites,
  holders: IndexTotals['holders'],
  sign: 1 | -1,
): Promise<ReadonlyMap<Hex, number>> => {
  const moved = [...holders].flatMap(([token, owners]) =>
    [...owners].flatMap(([owner, by]) => (by === 0n ? [] : [{ token, owner, by: by * BigInt(sign) }])),
  )
  const keys = moved.map(({ token, owner }) => [blobOf(token), blobOf(owner)])
  const found = await writes.lookUp('SELECT * FROM holder WHERE token = ? AND owner = ?', keys)
  const balances = new Map(
    found.map(row => [hexColumn(row, 'token') + hexColumn(row, 'owner'), balanceFromKey(row['balance'] as Uint8Array)]),
  )
  const changes = new Counts<Hex>()
  const [added, changed, emptied]: [SqlRow[], SqlRow[], SqlRow[]] = [[], [], []]
  for (const { token, owner, by } of moved) {
    const found = balances.get(token + owner)
    const [before, after] = [found ?? 0n, (found ?? 0n) + by]
    changes.add(token, (after === 0n ? 0 : 1) - (before === 0n ? 0 : 1))
    if (after === 0n) emptied.push({ token, owner })
    else (found === undefined ? added : changed).push({ token, owner, balance: balanceToKey(after) })
  }
  await writes.insert('holder', added)
  await writes.put('holder', changed)
  await writes.remove('holder', emptied)
  return changes.map
}

const addTokens = async (
  writes: SqlWrites,
  tokens: ReadonlyMap<Hex, TokenTotals>,
  before: RowsBefore,
  { owners, counters }: { readonly owners: Counts<Hex>; readonly counters: Counts<string> },
): Promise<void> => {
  const rows = [...tokens].map(([address, sums]): SqlRow => {
    const found = before.tokens.get(address)
    if (found === undefined) counters.add('tokens', 1)
    const row = found ?? newToken(address, sums)
    const { transfers } = sums
    return {
      ...row,
      ...sumsOf(row, {
        transfers,
        other_transfers: otherTransfers(sums, standardOf(row)),
        holders: owners.of(address),
      }),
      is_stale: sums.supplyChanged ? 1 : numberColumn(row, 'is_stale'),
    }
  })
  await writes.put('token', rows)
}

const standardOf = (row: SqlRow): TokenStandard => TOKEN_STANDARDS[numberColumn(row, 'standard')] as TokenStandard

const newToken = (address: Hex, { standard }: TokenTotals): SqlRow => ({
  address: blobOf(address),
  standard: TOKEN_STANDARDS.indexOf(standard),
  name: null,
  symbol: null,
  decimals: null,
  supply: null,
  transfers: 0,
  other_transfers: 0,
  holders: 0,
  is_read: 0,
  is_stale: 1,
})

/** Columns that add up. */
export const daySums = ({ blocks, transactions, ...day }: DayTotals) => ({
  ...{ blocks, transactions, gas_used: day.gasUsed, value: day.valueWei, fees: day.feesWei, burnt: day.burntWei },
  gas_prices: day.gasPriceSum,
})

const addDays = async (
  writes: SqlWrites,
  days: ReadonlyMap<number, DayTotals>,
  { active, newAddresses, newContracts }: Readonly<Record<'active' | 'newAddresses' | 'newContracts', Counts<number>>>,
): Promise<void> => {
  const keys = [...days.keys()].map(day => [day])
  const stored = await writes.lookUp('SELECT * FROM day WHERE day = ?', keys)
  const found = new Map(stored.map(row => [numberColumn(row, 'day'), row]))
  const rows = [...days].map(([number, day]): SqlRow => {
    const before = found.get(number)
    const [new_addresses, new_contracts] = [newAddresses.of(number), newContracts.of(number)]
    return {
      day: number,
      ...sumsOf(before, { ...daySums(day), active: active.of(number), new_addresses, new_contracts }),
      first_timestamp: before ? numberColumn(before, 'first_timestamp') : day.firstTimestamp,
      last_timestamp: day.lastTimestamp,
    }
  })
  await writes.put('day', rows)
  if (days.size > 0) await writes.run('DELETE FROM day_address WHERE day < ?', Math.max(...days.keys()) - KEPT_DAYS)
}

/** Adds the addresses of days; returns how many of them are new to their day. */
const addActive = async (writes: SqlWrites, days: ReadonlyMap<number, DayTotals>): Promise<Counts<number>> => {
  const added = new Counts<number>()
  for (const [day, { active }] of days) {
    const rows = [...active].map(([address, transactions]): SqlRow => ({ day, address, transactions }))
    added.add(day, await writes.increase('day_address', 'transactions', rows))
  }
  return added
}

/** Adds sums whose rows are nothing but a key and numbers, or takes them off (`sign` -1). */
export const addPlainSums = async (
  writes: SqlWrites,
  { producers, rewards, proofHours, proofMiners }: IndexTotals,
  sign: 1 | -1,
): Promise<void> => {
  const add = (table: string, added: Parameters<typeof addSums>[2]): Promise<void> =>
    addSums(writes, table, added, sign)
  await together(
    add(
      'producer',
      [...producers].map(([address, { mined, proposed, minedWei: mined_wei, proposedWei: proposed_wei }]) => ({
        key: { address: blobOf(address) },
        sums: { mined, proposed, mined_wei, proposed_wei },
      })),
    ),
    add(
      'reward',
      [...rewards.values()].map(({ address, cycle, role, blocks, wei }) => ({
        key: { address: blobOf(address), cycle, role: REWARD_ROLES.indexOf(role) },
        sums: { blocks, wei },
      })),
    ),
    add(
      'proof_hour',
      [...proofHours].map(([hour, { headers, work }]) => ({ key: { hour }, sums: { headers, work } })),
    ),
    add(
      'proof_miner',
      [...proofMiners].flatMap(([day, miners]) =>
        [...miners].map(([miner, headers]) => ({ key: { day, miner: blobOf(miner) }, sums: { headers } })),
      ),
    ),
  )
}

export const addCounters = async (writes: SqlWrites, counters: ReadonlyMap<string, number>): Promise<void> => {
  const found = await storedCounters(writes)
  const rows = [...counters].map(([name, by]) => ({ name, value: (found.get(name) ?? 0) + by }))
  await writes.put('counter', rows)
}

/** Counters by name. */
export const storedCounters = async (reads: SqlReads): Promise<ReadonlyMap<string, number>> => {
  const rows = await reads.all('SELECT name, value FROM counter')
  return new Map(rows.map(row => [row['name'] as string, numberColumn(row, 'value')]))
}
