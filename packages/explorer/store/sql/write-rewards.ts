import { type IndexTotals, rewardKey } from '../index-totals.ts'
import { REWARD_ROLES } from '../records.ts'
import { toRewardRow } from './rows.ts'
import { blobOf, type SqlWrites } from './sql-database.ts'

const OF_KEY = 'address = ? AND cycle = ? AND role = ?'

/** Adds what addresses earned by cycle, or takes it off (`sign` -1); without blocks there is no row. */
export const addRewards = async (writes: SqlWrites, rewards: IndexTotals['rewards'], sign: 1 | -1): Promise<void> => {
  const all = [...rewards.values()]
  const keys = all.map(({ address, cycle, role }) => [blobOf(address), cycle, REWARD_ROLES.indexOf(role)] as const)
  const found = await writes.lookUp(`SELECT * FROM reward WHERE ${OF_KEY}`, keys)
  const before = new Map(found.map(toRewardRow).map(row => [rewardKey(row), row]))
  const rows = all.map((sums, at) => {
    const [address, cycle, role] = keys[at] as (typeof keys)[number]
    const row = before.get(rewardKey(sums))
    const blocks = (row?.blocks ?? 0) + sign * sums.blocks
    return { address, cycle, role, blocks, wei: ((row?.wei ?? 0n) + BigInt(sign) * sums.wei).toString() }
  })
  await writes.put(
    'reward',
    rows.filter(({ blocks }) => blocks > 0),
  )
  for (const { address, cycle, role, blocks } of rows)
    if (blocks === 0) await writes.run(`DELETE FROM reward WHERE ${OF_KEY}`, address, cycle, role)
}
