import type { Hex } from '@tandem/base/bytes.ts'
import type { NodeOfMany } from '../../test/support/committee.ts'

/** One line of a report. */
export interface Row {
  readonly figure: string
  readonly unit?: string
  readonly count?: number
  readonly mean?: number
  readonly p50?: number
  readonly p99?: number
  readonly max?: number
  readonly bound?: string
  /** Left out: nothing is asked of it. */
  readonly kept?: boolean
}

export const printTable = (rows: readonly Row[]): void => {
  const cells = rows.map(({ figure, unit, count, mean, p50, p99, max, bound, kept }) =>
    [figure, unit, count, mean, p50, p99, max, bound, kept === undefined ? '' : kept ? 'kept' : 'MISSED'].map(cell =>
      String(cell ?? ''),
    ),
  )
  const head = ['', 'unit', 'count', 'mean', 'p50', 'p99', 'max', 'bound', '']
  const all = [head, head.map(() => '---'), ...cells]
  for (const row of all) process.stdout.write(`| ${row.join(' | ')} |\n`)
}

/** How many transactions of each kind stand in blocks. */
export const includedOf = async (
  node: NodeOfMany,
  hashes: ReadonlyMap<Hex, string>,
): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {}
  for (const [hash, name] of hashes)
    if ((await node.rpc('eth_getTransactionReceipt', hash)) !== null) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
