import type { Hex } from '../../../util/bytes.ts'
import { type IndexTotals, totalsOf } from '../index-totals.ts'
import { TRANSACTION_KINDS } from '../records.ts'
import { bigintColumn, hexColumn, numberColumn, type SqliteDatabase } from './database.ts'
import { readRecords } from './read-records.ts'
import { toAccountRow, toDayRow, toHolderRow, toTokenRow } from './rows.ts'
import { counterValue } from './write-totals.ts'

/** Compares maps by the text of their values. */
const differences = (what: string, stored: ReadonlyMap<string, string>, counted: ReadonlyMap<string, string>) => {
  const keys = new Set([...stored.keys(), ...counted.keys()])
  return [...keys].flatMap(key =>
    stored.get(key) === counted.get(key)
      ? []
      : [`${what} ${key}: stored ${stored.get(key) ?? 'nothing'}, counted ${counted.get(key) ?? 'nothing'}`],
  )
}

/** Returns stored sums that differ from the rows of the blocks. Holds every address in memory: for tests and repair. */
export const recountDifferences = (database: SqliteDatabase): readonly string[] => {
  const totals = totalsOf(readRecords(database, 0, Number.MAX_SAFE_INTEGER))
  return [
    ...differences('counter', storedCounters(database), countedCounters(totals)),
    ...differences('account', storedAccounts(database), countedAccounts(totals)),
    ...differences('token', storedTokens(database), countedTokens(totals)),
    ...differences('holder', storedHolders(database), countedHolders(totals)),
    ...differences('day', storedDays(database), countedDays(totals)),
    ...differences('producer', storedProducers(database), countedProducers(totals)),
    ...differences('proof hour', storedProofHours(database), countedProofHours(totals)),
    ...differences('proof miner', storedProofMiners(database), countedProofMiners(totals)),
  ]
}

const COUNTERS = [
  'blocks',
  'transactions',
  'transfers',
  'internal',
  'proofs',
  'addresses',
  'contracts',
  'tokens',
] as const

const storedCounters = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    [...COUNTERS, ...TRANSACTION_KINDS.map(kind => `transactions:${kind}`)].map(name => [
      name,
      String(counterValue(database, name)),
    ]),
  )

const countedCounters = (totals: IndexTotals): Map<string, string> => {
  const { accounts, tokens, kinds } = totals
  const contracts = [...accounts.values()].filter(({ contractDay }) => contractDay !== null).length
  return new Map(
    Object.entries({
      blocks: totals.blocks,
      transactions: totals.transactions,
      transfers: totals.transfers,
      internal: totals.internal,
      proofs: totals.proofs,
      addresses: accounts.size,
      contracts,
      tokens: tokens.size,
      ...Object.fromEntries(TRANSACTION_KINDS.map(kind => [`transactions:${kind}`, kinds[kind]])),
    }).map(([name, value]) => [name, String(value)]),
  )
}

const storedAccounts = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM account')
      .map(toAccountRow)
      .map(
        ({
          address,
          transactions,
          sent,
          received,
          transfers,
          internal,
          isContract,
          creator,
          firstBlock,
          lastBlock,
        }) => [
          address,
          [transactions, sent, received, transfers, internal, isContract, creator, firstBlock, lastBlock].join(' '),
        ],
      ),
  )

const countedAccounts = ({ accounts }: IndexTotals): Map<string, string> =>
  new Map(
    [...accounts].map(([address, sums]) => {
      const { transactions, sent, received, transfers, internal, contractDay, creation, firstBlock, lastBlock } = sums
      const isContract = contractDay !== null
      const creator = creation?.creator ?? null
      return [
        address,
        [transactions, sent, received, transfers, internal, isContract, creator, firstBlock, lastBlock].join(' '),
      ]
    }),
  )

const storedTokens = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM token')
      .map(toTokenRow)
      .map(({ address, standard, transfers, holders }) => [address, [standard, transfers, holders].join(' ')]),
  )

const countedTokens = ({ tokens, holders }: IndexTotals): Map<string, string> =>
  new Map(
    [...tokens].map(([address, { standard, transfers }]) => {
      const owners = [...(holders.get(address)?.values() ?? [])].filter(balance => balance > 0n).length
      return [address, [standard, transfers, owners].join(' ')]
    }),
  )

const storedHolders = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM holder')
      .map(row => [`${hexColumn(row, 'token')}/${hexColumn(row, 'owner')}`, toHolderRow(row).balance.toString()]),
  )

const countedHolders = ({ holders }: IndexTotals): Map<string, string> => {
  const rows = new Map<string, string>()
  const add = (token: Hex, owners: ReadonlyMap<Hex, bigint>): void => {
    for (const [owner, balance] of owners) if (balance !== 0n) rows.set(`${token}/${owner}`, balance.toString())
  }
  for (const [token, owners] of holders) add(token, owners)
  return rows
}

const storedDays = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM day')
      .map(toDayRow)
      .map(({ day, newContracts, ...sums }) => [String(day), Object.values({ ...sums, newContracts }).join(' ')]),
  )

const countedDays = ({ days, accounts }: IndexTotals): Map<string, string> => {
  const born = (day: number): number => [...accounts.values()].filter(({ firstDay }) => firstDay === day).length
  const made = (day: number): number => [...accounts.values()].filter(({ contractDay }) => contractDay === day).length
  return new Map(
    [...days].map(([number, day]) => [
      String(number),
      [
        day.blocks,
        day.transactions,
        day.gasUsed,
        day.valueWei,
        day.feesWei,
        day.burntWei,
        day.gasPriceSum,
        day.firstTimestamp,
        day.lastTimestamp,
        day.active.size,
        born(number),
        made(number),
      ].join(' '),
    ]),
  )
}

const storedProducers = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM producer')
      .map(row => [
        hexColumn(row, 'address'),
        [row['mined'], row['proposed'], row['mined_wei'], row['proposed_wei']].join(' '),
      ]),
  )

const countedProducers = ({ producers }: IndexTotals): Map<string, string> =>
  new Map(
    [...producers].map(([address, { mined, proposed, minedWei, proposedWei }]) => [
      address,
      [mined, proposed, minedWei, proposedWei].join(' '),
    ]),
  )

const storedProofHours = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM proof_hour')
      .map(row => [String(row['hour']), `${row['headers']} ${bigintColumn(row, 'work')}`]),
  )

const countedProofHours = ({ proofHours }: IndexTotals): Map<string, string> =>
  new Map([...proofHours].map(([hour, { headers, work }]) => [String(hour), `${headers} ${work}`]))

const storedProofMiners = (database: SqliteDatabase): Map<string, string> =>
  new Map(
    database
      .all('SELECT * FROM proof_miner')
      .map(row => [`${row['day']}/${hexColumn(row, 'miner')}`, String(numberColumn(row, 'headers'))]),
  )

const countedProofMiners = ({ proofMiners }: IndexTotals): Map<string, string> =>
  new Map(
    [...proofMiners].flatMap(([day, miners]) =>
      [...miners].map(([miner, headers]): [string, string] => [`${day}/${miner}`, String(headers)]),
    ),
  )
