import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { decodeAccount, encodeAccount } from '../account.ts'
import { binaryKey, bytesFromBinaryKey } from '../flat-tables.ts'
import { packRollback, type Rollback } from '../history/rollback.ts'
import type { TrieService } from '../trie/trie-service.ts'

/** Stored values by hashed key (binary text) that replace the head's, empty: absent, for an edit or rewind; each slot's account too. */
export type StoredValues = Rollback

/** Values with the root of their state. */
export interface RootedValues {
  readonly parentRoot: Hex
  readonly root: Hex
  readonly values: StoredValues
}

/** Applies the values to a root and fills in the resulting storage roots. Throws the errors of the trie. */
export const rootOfValues = async (trie: TrieService, parentRoot: Hex, values: StoredValues): Promise<RootedValues> => {
  const { root, storageRoots } = await trie.apply(parentRoot, await packRollback(values))
  const account = new Map(values.account)
  for (const [hashed, storageRoot] of storageRoots) {
    const key = binaryKey(hexToBytes(hashed))
    const row = account.get(key)
    if (row === undefined || row.byteLength === 0) continue
    account.set(key, encodeAccount({ ...decodeAccount(row), storageRoot }))
  }
  return { parentRoot, root, values: { account, slot: values.slot } }
}

/** Adds the rows of the flat tables to the batch. */
export const putValues = (batch: Batch, { account, slot }: StoredValues): void => {
  for (const [bucket, values] of [[BUCKETS.account, account] as const, [BUCKETS.slot, slot] as const]) {
    for (const [text, value] of values) {
      if (value.byteLength === 0) batch.del(bucket, bytesFromBinaryKey(text))
      else batch.put(bucket, bytesFromBinaryKey(text), value)
    }
  }
}
