import { assert } from '@tandem/base/assert.ts'
import { asBuffer, bytesToHex, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { FORMER_SCHEMA, putIdentity, readIdentity, SCHEMA_VERSION, schemaOf } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import { lookupKey } from './body-row.ts'

/** Tables of the former schema. A lookup row had 10 bytes for each block with the transaction: its number (6) and the index (4). */
const FORMER = { transaction: 9, logBloom: 14, logAddress: 15 } as const
const LOCATION = 10

/**
 * Rewrites the transaction lookups of a store of the former schema and deletes its log tables, whose successor is built while the node runs.
 * After a stop it goes on with the rows that are left.
 */
export const upgradeStore = async (store: Store, logger: Logger): Promise<void> => {
  if ((await schemaOf(store)) !== FORMER_SCHEMA) return
  logger.info(
    { from: FORMER_SCHEMA, to: SCHEMA_VERSION },
    'upgrading the database: log queries are slower until their index is built',
  )
  for await (const rows of store.chunks(FORMER.transaction)) {
    const batch = store.batch()
    for (const [hash, row] of rows) {
      const places = asBuffer(row)
      for (let at = 0; at < row.byteLength; at += LOCATION) {
        const place = { number: places.readUIntBE(at, 6), index: places.readUInt32BE(at + 6) }
        batch.put(BUCKETS.transactionPlace, lookupKey(bytesToHex(hash), place), EMPTY_BYTES)
      }
      batch.del(FORMER.transaction, hash)
    }
    await batch.write({ sync: false })
  }
  await store.clear(FORMER.logBloom)
  await store.clear(FORMER.logAddress)
  await store.flush()
  const identity = await readIdentity(store, FORMER_SCHEMA)
  assert(identity !== undefined, 'a store with a schema has an identity')
  const batch = store.batch()
  putIdentity(batch, identity)
  await batch.write()
}
