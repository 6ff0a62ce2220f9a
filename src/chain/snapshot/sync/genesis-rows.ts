import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { BUCKETS } from '../../../storage/buckets.ts'
import { numberKey } from '../../../storage/keys.ts'
import { metaKey } from '../../../storage/schema.ts'
import type { Store } from '../../../storage/store.ts'
import type { GenesisRows } from './staging.ts'

/** Returns the rows of block 0 except its state: a staged chain begins with these rows, not with those of a peer. */
export const genesisRows = async (store: Store, genesisHash: Hex): Promise<GenesisRows> => {
  const key = numberKey(0)
  const places = [
    [BUCKETS.meta, metaKey('schema')],
    [BUCKETS.meta, metaKey('genesis-alloc')],
    [BUCKETS.blockNumber, hexToBytes(genesisHash)],
    ...[BUCKETS.header, BUCKETS.body, BUCKETS.receipts, BUCKETS.supply, BUCKETS.council, BUCKETS.cycle].map(
      bucket => [bucket, key] as const,
    ),
  ] as const
  const rows = await Promise.all(
    places.map(async ([bucket, at]) => {
      const value = await store.get(bucket, at)
      return value === undefined ? [] : [[bucket, at, value] as const]
    }),
  )
  return rows.flat()
}
