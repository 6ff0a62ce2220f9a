import type { Hex } from '@tandem/base/bytes.ts'
import { ACCOUNT_SUMS, type DayTotals, type IndexTotals, ROW_COUNTS } from './index-totals.ts'
import { TOKEN_STANDARDS, TRANSACTION_KINDS } from './records.ts'

/** Adds the sums of the blocks that follow. Takes over parts of `later`, which is of no use afterwards. */
export const mergeTotals = (totals: IndexTotals, later: IndexTotals): void => {
  addSums(totals, later, ROW_COUNTS)
  addSums(totals.kinds, later.kinds, TRANSACTION_KINDS)
  mergeMaps(totals.accounts, later.accounts, (found, by) => {
    addSums(found, by, ACCOUNT_SUMS)
    found.creation = by.creation ?? found.creation
    found.lastBlock = by.lastBlock
    found.contractDay ??= by.contractDay
  })
  mergeMaps(totals.tokens, later.tokens, (found, by) => {
    found.transfers += by.transfers
    addSums(found.byStandard, by.byStandard, TOKEN_STANDARDS)
    found.supplyChanged ||= by.supplyChanged
  })
  mergeMaps(totals.days, later.days, (found, by) => {
    addSums(found, by, DAY_SUMS)
    found.lastTimestamp = by.lastTimestamp
    addCounts(found.active, by.active)
  })
  mergeMaps(totals.producers, later.producers, (found, by) =>
    addSums(found, by, ['mined', 'proposed', 'minedWei', 'proposedWei']),
  )
  mergeMaps(totals.rewards, later.rewards, (found, by) => addSums(found, by, ['blocks', 'wei']))
  mergeMaps(totals.proofHours, later.proofHours, (found, by) => addSums(found, by, ['headers', 'work']))
  mergeMaps(totals.proofMiners, later.proofMiners, addCounts)
  mergeMaps(totals.holders, later.holders, (owners, moved) => {
    for (const [owner, by] of moved) owners.set(owner, (owners.get(owner) ?? 0n) + by)
  })
}

const DAY_SUMS = [
  ...(['blocks', 'transactions', 'gasUsed', 'valueWei', 'feesWei', 'burntWei'] as const),
  'gasPriceSum',
] as const satisfies readonly (keyof DayTotals)[]

/** Adds members that are all numbers, or all bigints. */
const addSums = <Name extends string>(
  found: Record<Name, number | bigint>,
  by: Readonly<Record<Name, number | bigint>>,
  names: readonly Name[],
): void => {
  for (const name of names) (found[name] as number) += by[name] as number
}

const mergeMaps = <Key, Value>(
  into: Map<Key, Value>,
  from: ReadonlyMap<Key, Value>,
  merge: (found: Value, by: Value) => void,
): void => {
  for (const [key, by] of from) {
    const found = into.get(key)
    if (found === undefined) into.set(key, by)
    else merge(found, by)
  }
}

const addCounts = (counts: Map<Hex, number>, added: ReadonlyMap<Hex, number>): void => {
  for (const [key, by] of added) counts.set(key, (counts.get(key) ?? 0) + by)
}
