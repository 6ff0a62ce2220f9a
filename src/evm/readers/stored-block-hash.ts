import type { Hex } from '@tandem/base/bytes.ts'
import { decodeHeader } from '../../primitives/header.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'

/** Returns the hash of a stored block that has a child, which holds it; undefined for others. */
export const storedBlockHash = (store: Store, number: number): Hex | undefined => {
  if (number < 0) return undefined
  const row = store.getSync(BUCKETS.header, numberKey(number + 1))
  return row && decodeHeader(row).parentHash
}
