import { assert } from '@tandem/base/assert.ts'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { removeUndo } from '../../state/world/account-edit.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { removeProofs } from '../proof/proof-rows.ts'
import type { BlockStore } from '../store/block-store.ts'
import { BodyRow, lookupKey } from '../store/body-row.ts'
import { removeReceipts } from '../store/receipt-parts.ts'

/** Adds the removal of all rows of a block except its state to the batch. */
export const removeBlock = async (batch: Batch, store: Store, blocks: BlockStore, number: number): Promise<void> => {
  const key = numberKey(number)
  const body = await bodyOf(store, blocks, number)
  assert(body !== undefined, 'a block that is removed is stored')
  for (const [index, hash] of body.transactions.entries())
    batch.del(BUCKETS.transactionPlace, lookupKey(hash, { number, index }))
  removeProofs(batch, body.proofHeaders)
  batch.del(BUCKETS.blockNumber, hexToBytes(body.hash))
  removeReceipts(batch, store, number)
  for (const bucket of BY_NUMBER) batch.del(bucket, key)
  removeUndo(store, batch, number)
}

interface RemovedBody {
  readonly hash: Hex
  readonly transactions: readonly Hex[]
  readonly proofHeaders: readonly Uint8Array[]
}

/** Returns its hash and those of its transactions; undefined when the block is not stored. */
const bodyOf = async (store: Store, blocks: BlockStore, number: number): Promise<RemovedBody | undefined> => {
  const recent = blocks.recent(number)?.block
  if (recent !== undefined) return { ...recent, transactions: recent.transactions.map(({ hash }) => hash) }
  const row = await store.get(BUCKETS.body, numberKey(number))
  if (row === undefined) return undefined
  const body = new BodyRow(row)
  const transactions = Array.from({ length: body.count }, (_, index) => body.transactionHash(index))
  return { hash: body.blockHash, transactions, proofHeaders: body.encodable().proofHeaders }
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
