import type { Hex } from '@tandem/base/bytes.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { ChainBlock } from '../types.ts'

/** Block as log queries use it: no transaction is decoded or held. */
export interface LoggedBlock {
  readonly number: number
  readonly hash: Hex
  /** By transaction; null for those without logs, whose hashes are not needed. */
  readonly transactionHashes: readonly (Hex | null)[]
  /** Logs by transaction. */
  readonly logs: readonly (readonly Log[])[]
}

export const loggedBlock = (block: ChainBlock, receipts: readonly Receipt[]): LoggedBlock =>
  loggedFromReceipts(block.header.number, block.hash, receipts, index => block.transactions[index]?.hash as Hex)

export const loggedFromReceipts = (
  number: number,
  hash: Hex,
  receipts: readonly Pick<Receipt, 'logs'>[],
  hashOf: (index: number) => Hex,
): LoggedBlock => ({
  number,
  hash,
  transactionHashes: receipts.map(({ logs }, index) => (logs.length > 0 ? hashOf(index) : null)),
  logs: receipts.map(({ logs }) => logs),
})

/** Estimate of its bytes in memory. */
export const weightOfLogged = ({ logs }: LoggedBlock): number => {
  let bytes = 256 + logs.length * 120
  for (const list of logs) for (const log of list) bytes += 400 + log.data.byteLength
  return bytes
}
