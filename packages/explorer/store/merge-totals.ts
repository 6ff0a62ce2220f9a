import type { Hex } from '@tandem/base/bytes.ts'
import { type AccountTotals, type DayTotals, type IndexTotals, ROW_COUNTS, type TokenTotals } from './index-totals.ts'
import { TOKEN_STANDARDS, TRANSACTION_KINDS } from './records.ts'

/** Adds the sums of the blocks that follow. Takes over parts of `later`, which is of no use afterwards. */
export const mergeTotals = (totals: IndexTotals, later: IndexTotals): void => {
  for (const name of ROW_COUNTS) totals[name] += later[name]
  for (const kind of TRANSACTION_KINDS) totals.kinds[kind] += later.kinds[kind]
  mergeMaps(totals.accounts, later.accounts, mergeAccounts)
  mergeMaps(totals.tokens, later.tokens, mergeTokens)
  mergeMaps(totals.days, later.days, mergeDays)
  mergeMaps(totals.producers, later.producers, (found, by) => {
    found.mined += by.mined
    found.proposed += by.proposed
    found.minedWei += by.minedWei
    found.proposedWei += by.proposedWei
  })
  mergeMaps(totals.rewards, later.rewards, (found, by) => {
    found.blocks += by.blocks
    found.wei += by.wei
  })
  mergeMaps(totals.proofHours, later.proofHours, (found, by) => {
    found.headers += by.headers
    found.work += by.work
  })
  mergeMaps(totals.proofMiners, later.proofMiners, addCounts)
  mergeMaps(totals.holders, later.holders, (owners, moved) => {
    for (const [owner, by] of moved) owners.set(owner, (owners.get(owner) ?? 0n) + by)
  })
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

const mergeAccounts = (found: AccountTotals, by: AccountTotals): void => {
  found.transactions += by.transactions
  found.sent += by.sent
  found.received += by.received
  found.transfers += by.transfers
  found.internal += by.internal
  found.creation = by.creation ?? found.creation
  found.lastBlock = by.lastBlock
  found.contractDay ??= by.contractDay
}

const mergeTokens = (found: TokenTotals, by: TokenTotals): void => {
  found.transfers += by.transfers
  for (const standard of TOKEN_STANDARDS) found.byStandard[standard] += by.byStandard[standard]
  found.supplyChanged ||= by.supplyChanged
}

const mergeDays = (found: DayTotals, by: DayTotals): void => {
  found.blocks += by.blocks
  found.transactions += by.transactions
  found.gasUsed += by.gasUsed
  found.valueWei += by.valueWei
  found.feesWei += by.feesWei
  found.burntWei += by.burntWei
  found.gasPriceSum += by.gasPriceSum
  found.lastTimestamp = by.lastTimestamp
  addCounts(found.active, by.active)
}
