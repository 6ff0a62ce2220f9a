import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { removeUndo } from '../../state/edit/account-edit.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { removeLogIndex } from '../logs/log-index.ts'
import { removeProofs } from '../proof/proof-rows.ts'
import type { BlockStore } from '../store/block-store.ts'
import { BodyRow, lookupBelow } from '../store/body-row.ts'
import { removeReceipts } from '../store/receipt-parts.ts'

/** Adds the removal of all rows of a block except its state to the batch. */
export const removeBlock = async (batch: Batch, store: Store, blocks: BlockStore, number: number): Promise<void> => {
  const key = numberKey(number)
  const [body, logged] = await Promise.all([bodyOf(store, blocks, number), blocks.logged(number)])
  assert(body !== undefined && logged !== undefined, 'a block that is removed is stored')
  await removeLookups(batch, store, number, body.transactions)
  removeProofs(batch, body.proofHeaders)
  removeLogIndex(batch, number, logged.logs)
  batch.del(BUCKETS.blockNumber, hexToBytes(logged.hash))
  removeReceipts(batch, store, number)
  for (const bucket of BY_NUMBER) batch.del(bucket, key)
  removeUndo(store, batch, number)
}

/** Removes the lookups of a block's transactions; those that an earlier block has lead there again. */
const removeLookups = async (batch: Batch, store: Store, number: number, hashes: readonly Hex[]): Promise<void> => {
  const keys = hashes.map(hexToBytes)
  const rows = await store.getMany(BUCKETS.transaction, keys)
  for (const [at, key] of keys.entries()) {
    const below = lookupBelow(rows[at] ?? EMPTY_BYTES, number)
    if (below.byteLength === 0) batch.del(BUCKETS.transaction, key)
    else batch.put(BUCKETS.transaction, key, below)
  }
}

/** Returns the hashes of its transactions; undefined when the block is not stored. */
const bodyOf = async (
  store: Store,
  blocks: BlockStore,
  number: number,
): Promise<{ readonly transactions: readonly Hex[]; readonly proofHeaders: readonly Uint8Array[] } | undefined> => {
  const recent = blocks.recent(number)?.block
  if (recent !== undefined)
    return { transactions: recent.transactions.map(({ hash }) => hash), proofHeaders: recent.proofHeaders }
  const row = await store.get(BUCKETS.body, numberKey(number))
  if (row === undefined) return undefined
  const body = new BodyRow(row)
  const transactions = Array.from({ length: body.count }, (_, index) => body.transactionHash(index))
  return { transactions, proofHeaders: body.encodable().proofHeaders }
}

const BY_NUMBER = [
  BUCKETS.header,
  BUCKETS.body,
  BUCKETS.internalTransfers,
  BUCKETS.failedExecutions,
  BUCKETS.certificate,
  BUCKETS.supply,
  BUCKETS.council,
  BUCKETS.cycle,
  BUCKETS.editedRoot,
] as const
