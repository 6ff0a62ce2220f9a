import { assert } from '@tandem/base/assert.ts'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import type { Batch } from './batch.ts'
import { BUCKETS } from './buckets.ts'
import { storeError } from './errors.ts'
import { IDENTITY_ROW } from './segments.ts'
import type { Store } from './store.ts'

/** Raised when the layout or meaning of stored rows changes (test/unit/chain/store/golden-rows.test.ts); a store of another version is refused. */
export const SCHEMA_VERSION = 9

/** Version that a start upgrades: what was absent has empty rows there, which are read as such. */
export const FORMER_SCHEMA = 8

/** Chain of a store. `genesis` is the hash of block 0. */
interface StoreIdentity {
  readonly network: string
  readonly genesis: Hex
}

/** Key of a named single value in the meta bucket. */
export const metaKey = (name: string): Uint8Array => new TextEncoder().encode(name)

/** Returns undefined for an empty store. Throws SCHEMA_UNKNOWN for a schema other than the present and the former one, or STORE_FOREIGN when there are rows and no schema. */
export const readIdentity = async (store: Store): Promise<StoreIdentity | undefined> => {
  const row = await store.get(BUCKETS.meta, IDENTITY_ROW)
  if (row === undefined) {
    if (await store.isEmpty()) return undefined
    throw storeError({ code: 'STORE_FOREIGN', path: store.path })
  }
  const found = row[0] ?? 0
  if (found !== SCHEMA_VERSION && found !== FORMER_SCHEMA)
    throw storeError({ code: 'SCHEMA_UNKNOWN', path: store.path, found, supported: SCHEMA_VERSION })
  const [network, genesis] = asBuffer(row).toString('utf8', 1).split('\n')
  assert(network !== undefined && genesis !== undefined, 'a schema row of this version has two fields')
  return { network, genesis: genesis as Hex }
}

/** Raises the number of a store of the former schema. */
export const upgradeSchema = async (store: Store): Promise<void> => {
  const identity = await readIdentity(store)
  if (identity === undefined || store.getSync(BUCKETS.meta, IDENTITY_ROW)?.[0] === SCHEMA_VERSION) return
  const batch = store.batch()
  putIdentity(batch, identity)
  await batch.write()
}

/** Added to the batch that writes genesis, so that a store with an identity has its block 0. */
export const putIdentity = (batch: Batch, identity: StoreIdentity): void => {
  const text = Buffer.from(`${identity.network}\n${identity.genesis}`)
  batch.put(BUCKETS.meta, IDENTITY_ROW, Buffer.concat([Uint8Array.of(SCHEMA_VERSION), text]))
}
