import type { Hex } from '@tandem/base/bytes.ts'
import { addToTotals, emptyTotals, type IndexTotals, otherTransfers, rewardKey } from '../index-totals.ts'
import { TRANSACTION_KINDS } from '../records.ts'
import { readRecords } from './read-records.ts'
import { toAccountRow, toDayRow, toHolderRow, toRewardRow, toTokenRow } from './rows.ts'
import { SkipPointers } from './skip-pointers.ts'
import { bigintColumn, blobOf, hexColumn, numberColumn, type SqlReads, type SqlRow } from './sql-database.ts'
import { storedCounters as readCounters } from './write-totals.ts'

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
export const recountDifferences = async (reads: SqlReads): Promise<readonly string[]> => {
  const totals = emptyTotals()
  const pointers = new SkipPointers(true)
  for await (const record of readRecords(reads, 0, Number.MAX_SAFE_INTEGER)) {
    addToTotals(totals, record)
    pointers.add(record)
  }
  return [
    ...differences('counter', await storedCounters(reads), countedCounters(totals)),
    ...differences('account', await storedAccounts(reads), countedAccounts(totals)),
    ...differences('token', await storedTokens(reads), countedTokens(totals)),
    ...differences('holder', await storedHolders(reads), countedHolders(totals)),
    ...differences('day', await storedDays(reads), countedDays(totals)),
    ...differences('producer', await storedProducers(reads), countedProducers(totals)),
    ...differences('reward', await storedRewards(reads), countedRewards(totals)),
    ...differences('proof hour', await storedProofHours(reads), countedProofHours(totals)),
    ...differences('proof miner', await storedProofMiners(reads), countedProofMiners(totals)),
    ...differences(
      'skip pointer',
      pointersOf(await reads.all('SELECT * FROM skip_pointer')),
      pointersOf(pointers.rows.map(row => ({ ...row, owner: blobOf(row.owner) }))),
    ),
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

const storedCounters = async (reads: SqlReads): Promise<Map<string, string>> => {
  const counters = await readCounters(reads)
  const names = [...COUNTERS, ...TRANSACTION_KINDS.map(kind => `transactions:${kind}`)]
  return new Map(names.map(name => [name, String(counters.get(name) ?? 0)]))
}

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

const storedAccounts = async (reads: SqlReads): Promise<Map<string, string>> =>
  new Map(
    (await reads.all('SELECT * FROM account'))
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

const storedTokens = async (reads: SqlReads): Promise<Map<string, string>> =>
  new Map(
    (await reads.all('SELECT * FROM token')).map(row => {
      const { address, standard, transfers, holders } = toTokenRow(row)
      return [address, [standard, transfers, row['other_transfers'], holders].join(' ')]
    }),
  )

const countedTokens = ({ tokens, holders }: IndexTotals): Map<string, string> =>
  new Map(
    [...tokens].map(([address, sums]) => {
      const { standard, transfers } = sums
      const owners = [...(holders.get(address)?.values() ?? [])].filter(balance => balance !== 0n).length
      return [address, [standard, transfers, otherTransfers(sums, standard), owners].join(' ')]
    }),
  )

const storedHolders = async (reads: SqlReads): Promise<Map<string, string>> =>
  new Map(
    (await reads.all('SELECT * FROM holder')).map(row => [
      `${hexColumn(row, 'token')}/${hexColumn(row, 'owner')}`,
      toHolderRow(row).balance.toString(),
    ]),
  )

const countedHolders = ({ holders }: IndexTotals): Map<string, string> => {
  const rows = new Map<string, string>()
  const add = (token: Hex, owners: ReadonlyMap<Hex, bigint>): void => {
    for (const [owner, balance] of owners) if (balance !== 0n) rows.set(`${token}/${owner}`, balance.toString())
  }
  for (const [token, owners] of holders) add(token, owners)
  return rows
}

const storedDays = async (reads: SqlReads): Promise<Map<string, string>> =>
  new Map(
    (await reads.all('SELECT * FROM day'))
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

const storedProducers = async (reads: SqlReads): Promise<Map<string, string>> =>
  new Map(
    (await reads.all('SELECT * FROM producer')).map(row => [
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

const storedRewards = async (reads: SqlReads): Promise<Map<string, string>> => {
  const rows = (await reads.all('SELECT * FROM reward')).map(toRewardRow)
  return new Map(rows.map(row => [rewardKey(row), `${row.blocks} ${row.wei}`]))
}

const countedRewards = ({ rewards }: IndexTotals): Map<string, string> =>
  new Map([...rewards].map(([key, { blocks, wei }]) => [key, `${blocks} ${wei}`]))

const storedProofHours = async (reads: SqlReads): Promise<Map<string, string>> => {
  const rows = await reads.all('SELECT * FROM proof_hour')
  return new Map(rows.map(row => [String(row['hour']), `${row['headers']} ${bigintColumn(row, 'work')}`]))
}

const countedProofHours = ({ proofHours }: IndexTotals): Map<string, string> =>
  new Map([...proofHours].map(([hour, { headers, work }]) => [String(hour), `${headers} ${work}`]))

const storedProofMiners = async (reads: SqlReads): Promise<Map<string, string>> => {
  const rows = await reads.all('SELECT * FROM proof_miner')
  return new Map(rows.map(row => [`${row['day']}/${hexColumn(row, 'miner')}`, String(numberColumn(row, 'headers'))]))
}

const countedProofMiners = ({ proofMiners }: IndexTotals): Map<string, string> =>
  new Map(
    [...proofMiners].flatMap(([day, miners]) =>
      [...miners].map(([miner, headers]): [string, string] => [`${day}/${miner}`, String(headers)]),
    ),
  )

const pointersOf = (rows: readonly SqlRow[]): Map<string, string> =>
  new Map(
    rows.map(row => [
      `${row['list']}/${hexColumn(row, 'owner')}/${row['ordinal']}`,
      `${row['block']} ${row['second']} ${row['third']}`,
    ]),
  )
