import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { assert } from '../../util/assert.ts'
import { hexToBytes } from '../../util/bytes.ts'
import type { BlockStore } from '../block-store.ts'
import { BodyRow } from '../body-row.ts'
import { removeLogIndex } from '../log-index.ts'

/** Queues the removal of everything that stands under a block's number besides its state. */
export const removeBlock = async (batch: Batch, store: Store, blocks: BlockStore, number: number): Promise<void> => {
  const key = numberKey(number)
  const [row, logged] = await Promise.all([store.get(BUCKETS.body, key), blocks.logged(number)])
  assert(row !== undefined && logged !== undefined, 'a block that is removed is stored')
  const body = new BodyRow(row)
  for (let index = 0; index < body.count; index++)
    batch.del(BUCKETS.transaction, hexToBytes(body.transactionHash(index)))
  removeLogIndex(batch, number, logged.logs)
  batch.del(BUCKETS.blockNumber, hexToBytes(body.blockHash))
  for (const bucket of BY_NUMBER) batch.del(bucket, key)
  for await (const undo of store.keys(BUCKETS.editUndo, { prefix: key })) batch.del(BUCKETS.editUndo, undo)
}

const BY_NUMBER = [
  BUCKETS.header,
  BUCKETS.body,
  BUCKETS.receipts,
  BUCKETS.certificate,
  BUCKETS.supply,
  BUCKETS.council,
  BUCKETS.cycle,
  BUCKETS.editedRoot,
] as const
