import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Store } from '../../storage/store.ts'
import type { ChainBlock } from '../types.ts'

/** Returns the lookup rows of those transactions of a new block that earlier blocks have, by hash. There are some only where nonces are edited. */
export const earlierLookups = async (
  store: Store,
  { transactions }: Pick<ChainBlock, 'transactions'>,
): Promise<ReadonlyMap<Hex, Uint8Array>> => {
  if (transactions.length === 0) return new Map()
  const keys = transactions.map(({ hash }) => hexToBytes(hash))
  const rows = await store.getMany(BUCKETS.transaction, keys)
  return new Map(transactions.flatMap(({ hash }, at) => (rows[at] === undefined ? [] : [[hash, rows[at]] as const])))
}
