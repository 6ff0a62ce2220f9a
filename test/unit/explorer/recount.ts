import {
  addToTotals,
  emptyTotals,
  type IndexTotals,
  otherTransfers,
  rewardKey,
  rowCounts,
} from '@tandem/explorer/store/index-totals.ts'
import { readRecords } from '@tandem/explorer/store/sql/read-records.ts'
import { toAccountRow, toDayRow, toHolderRow, toRewardRow, toTokenRow } from '@tandem/explorer/store/sql/rows.ts'
import { SkipPointers } from '@tandem/explorer/store/sql/skip-pointers.ts'
import { blobOf, hexColumn, type SqlReads, type SqlRow } from '@tandem/explorer/store/sql/sql-database.ts'
import type { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'

/** Key of a sum, and its values. */
type Sum = readonly [key: string | number, ...values: readonly unknown[]]

/** Table of sums: what its rows say, and what the blocks come to. */
interface Recounted {
  readonly table: string
  /** undefined: the row says nothing. */
  stored(row: SqlRow): Sum | undefined
  counted(totals: IndexTotals, pointers: SkipPointers): readonly Sum[]
}

const pointerOf = (row: SqlRow): Sum => [
  `${row['list']}/${hexColumn(row, 'owner')}/${row['ordinal']}`,
  ...['block', 'second', 'third'].map(name => row[name]),
]

const RECOUNTED: readonly Recounted[] = [
  {
    table: 'counter',
    // One of 0 may have a row or none.
    stored: row => (row['value'] === 0 ? undefined : [row['name'] as string, row['value']]),
    counted: totals => {
      const contracts = [...totals.accounts.values()].filter(({ contractDay }) => contractDay !== null).length
      const sums = Object.entries({ addresses: totals.accounts.size, contracts, tokens: totals.tokens.size })
      return [...rowCounts(totals), ...sums].filter(([, value]) => value !== 0)
    },
  },
  {
    table: 'account',
    stored: row => {
      const { address, creationTransaction: _, ...sums } = toAccountRow(row)
      return [address, ...Object.values(sums)]
    },
    counted: ({ accounts }) =>
      [...accounts].map(([address, sums]) => {
        const { transactions, sent, received, transfers, internal, contractDay, creation, firstBlock, lastBlock } = sums
        const marks = [contractDay !== null, creation?.creator ?? null]
        return [address, transactions, sent, received, transfers, internal, ...marks, firstBlock, lastBlock]
      }),
  },
  {
    table: 'token',
    stored: row => {
      const { address, standard, transfers, holders } = toTokenRow(row)
      return [address, standard, transfers, row['other_transfers'], holders]
    },
    counted: ({ tokens, holders }) =>
      [...tokens].map(([address, sums]) => {
        const { standard, transfers } = sums
        const owners = [...(holders.get(address)?.values() ?? [])].filter(balance => balance !== 0n).length
        return [address, standard, transfers, otherTransfers(sums, standard), owners]
      }),
  },
  {
    table: 'holder',
    stored: row => [`${hexColumn(row, 'token')}/${hexColumn(row, 'owner')}`, toHolderRow(row).balance],
    counted: ({ holders }) =>
      [...holders].flatMap(([token, owners]) =>
        [...owners].flatMap(([owner, balance]): Sum[] => (balance === 0n ? [] : [[`${token}/${owner}`, balance]])),
      ),
  },
  {
    table: 'day',
    stored: row => {
      const { day, ...sums } = toDayRow(row)
      return [day, ...Object.values(sums)]
    },
    counted: ({ days, accounts }) =>
      [...days].map(([number, { active, ...sums }]) => {
        const born = [...accounts.values()].filter(({ firstDay }) => firstDay === number).length
        const made = [...accounts.values()].filter(({ contractDay }) => contractDay === number).length
        return [number, ...Object.values(sums), active.size, born, made]
      }),
  },
  {
    table: 'producer',
    stored: row => [
      hexColumn(row, 'address'),
      ...['mined', 'proposed', 'mined_wei', 'proposed_wei'].map(name => row[name]),
    ],
    counted: ({ producers }) => [...producers].map(([address, sums]) => [address, ...Object.values(sums)]),
  },
  {
    table: 'reward',
    stored: row => {
      const reward = toRewardRow(row)
      return [rewardKey(reward), reward.blocks, reward.wei]
    },
    counted: ({ rewards }) => [...rewards].map(([key, { blocks, wei }]) => [key, blocks, wei]),
  },
  {
    table: 'proof_hour',
    stored: row => [row['hour'] as number, row['headers'], row['work']],
    counted: ({ proofHours }) => [...proofHours].map(([hour, { headers, work }]) => [hour, headers, work]),
  },
  {
    table: 'proof_miner',
    stored: row => [`${row['day']}/${hexColumn(row, 'miner')}`, row['headers']],
    counted: ({ proofMiners }) =>
      [...proofMiners].flatMap(([day, miners]) =>
        [...miners].map(([miner, headers]): Sum => [`${day}/${miner}`, headers]),
      ),
  },
  {
    table: 'skip_pointer',
    stored: pointerOf,
    counted: (_totals, { rows }) => rows.map(row => pointerOf({ ...row, owner: blobOf(row.owner) })),
  },
]

const textsOf = (sums: readonly Sum[]): ReadonlyMap<string, string> =>
  new Map(sums.map(([key, ...values]) => [String(key), values.join(' ')]))

/** Compares sums by the text of their values. */
const differences = (what: string, stored: ReadonlyMap<string, string>, counted: ReadonlyMap<string, string>) =>
  [...new Set([...stored.keys(), ...counted.keys()])].flatMap(key =>
    stored.get(key) === counted.get(key)
      ? []
      : [`${what} ${key}: stored ${stored.get(key) ?? 'nothing'}, counted ${counted.get(key) ?? 'nothing'}`],
  )

const recountDifferences = async (reads: SqlReads): Promise<readonly string[]> => {
  const totals = emptyTotals()
  const pointers = new SkipPointers(true)
  for await (const record of readRecords(reads, 0, Number.MAX_SAFE_INTEGER)) {
    addToTotals(totals, record)
    pointers.add(record)
  }
  const found: string[] = []
  for (const { table, stored, counted } of RECOUNTED) {
    const rows = (await reads.all(`SELECT * FROM ${table}`)).map(stored).filter(sum => sum !== undefined)
    found.push(...differences(table, textsOf(rows), textsOf(counted(totals, pointers))))
  }
  return found
}

/** Differences between the running sums of an index and a count from its rows; empty when there are none. */
export const recount = ({ database }: SqlIndex): Promise<readonly string[]> => database.transaction(recountDifferences)
