import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Block } from '../../primitives/block.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import { effectiveTip } from '../../primitives/transaction/transaction.ts'

/** Gas that paid a tip, in wei per gas above the base fee. */
export interface TipShare {
  readonly tip: bigint
  readonly gas: bigint
}

/** Yields the tip paid by each transaction of a decoded block. */
export function* tipsPaid({ header, transactions }: Block, receipts: readonly Receipt[]): Generator<TipShare> {
  const baseFeePerGas = header.baseFeePerGas ?? 0n
  for (const [index, transaction] of transactions.entries())
    yield { tip: effectiveTip(transaction, baseFeePerGas), gas: receipts[index]?.gasUsed ?? 0n }
}

/** Sums the gas by tip, lowest tip first. Runs in time slices: a block has thousands of transactions. */
export const sumTips = async (paid: Iterable<TipShare>): Promise<readonly TipShare[]> => {
  const gasOf = new Map<bigint, bigint>()
  for (const { tip, gas } of paid) {
    gasOf.set(tip, (gasOf.get(tip) ?? 0n) + gas)
    const pause = sliceOver()
    if (pause !== undefined) await pause
  }
  return [...gasOf].map(([tip, gas]) => ({ tip, gas })).sort((a, b) => (a.tip < b.tip ? -1 : 1))
}

export const weightOfTips = (shares: readonly TipShare[]): number => 128 + shares.length * 128
