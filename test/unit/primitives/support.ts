import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isCoded } from '@tandem/base/errors.ts'
import { RlpCursor } from '../../../src/primitives/rlp/rlp-cursor.ts'

/** The code of the CodedError that `run` throws; undefined when it throws nothing. Anything else thrown is a bug. */
export const codeOf = (run: () => unknown): string | undefined => {
  try {
    run()
  } catch (error) {
    if (isCoded(error)) return error.code
    throw error
  }
  return undefined
}

/** The 54 blocks of the public test chain, each the bytes of its RLP. */
export const testChain = (): readonly Uint8Array[] => {
  const file = readFileSync(fileURLToPath(new URL('./fixtures/chain.rlp', import.meta.url)))
  const cursor = new RlpCursor(file)
  const blocks: Uint8Array[] = []
  while (cursor.hasMore()) blocks.push(cursor.raw())
  return blocks
}

/** Header and transactions of one of them; their lists of uncles and withdrawals are none of ours. */
export const blockParts = (block: Uint8Array): { header: Uint8Array; transactions: readonly Uint8Array[] } => {
  const cursor = new RlpCursor(block)
  cursor.openList()
  const header = cursor.raw()
  const outer = cursor.openList()
  const transactions: Uint8Array[] = []
  while (cursor.hasMore()) transactions.push(cursor.nextIsList() ? cursor.raw() : cursor.bytes())
  cursor.closeList(outer)
  return { header, transactions }
}
