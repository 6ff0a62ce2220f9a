import { assert } from '@tandem/base/assert.ts'
import { finishSlicedWork, partCounter, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { freeLarge, hexToBytes } from '@tandem/base/bytes.ts'
import { type Certificate, encodeCertificate } from '../../primitives/consensus/certificate.ts'
import { encodeHeader } from '../../primitives/header.ts'
import { encodeFailedExecutions, type FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import { type BlockInternalTransfer, encodeInternalTransfers } from '../../primitives/receipt/internal-transfer.ts'
import { type Receipt, storedReceiptParts } from '../../primitives/receipt/receipt.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import { BodyRow, encodeBody, lookupKey } from './body-row.ts'
import { putReceipts, removeReceipts } from './receipt-parts.ts'
import type { ChainBlock } from './types.ts'

const HEAD_ROW = metaKey('head')
/** Value of a lookup row, which is not read. */
const PLACED = new Uint8Array(1)

/** Rows of one block besides its state. */
export interface BlockRows {
  readonly block: ChainBlock
  readonly receipts: readonly Receipt[]
  /** Internal transfers and failures are missing for a block that was not executed here. */
  readonly internal?: readonly BlockInternalTransfer[] | undefined
  readonly failed?: readonly FailedExecution[] | undefined
  /** null for genesis. */
  readonly certificate: Certificate | null
}

/** Adds the rows of the block that becomes the head to the batch. */
export const putBlock = (batch: Batch, rows: BlockRows): void => {
  finishSlicedWork(putBlockRows(batch, rows))
  putHead(batch, rows.block.header.number)
}

/** Adds the rows of a block to the batch without moving the head, in parts: its receipts may be 40 MB, its transactions tens of thousands. */
export function* putBlockRows(batch: Batch, rows: BlockRows): SlicedWork<void> {
  const { block, receipts, internal = [], failed = [], certificate } = rows
  const { header, hash, transactions } = block
  const key = numberKey(header.number)
  batch.put(BUCKETS.header, key, encodeHeader(header))
  batch.put(BUCKETS.body, key, encodeBody(block))
  const row = yield* storedReceiptParts(receipts)
  yield* putReceipts(batch, header.number, row)
  freeLarge([row])
  if (internal.length > 0) batch.put(BUCKETS.internalTransfers, key, encodeInternalTransfers(internal))
  if (failed.length > 0) batch.put(BUCKETS.failedExecutions, key, encodeFailedExecutions(failed))
  batch.put(BUCKETS.blockNumber, hexToBytes(hash), key)
  if (certificate !== null) batch.put(BUCKETS.certificate, key, encodeCertificate(certificate))
  const partEnds = partCounter()
  for (const [index, { hash }] of transactions.entries()) {
    batch.put(BUCKETS.transactionPlace, lookupKey(hash, { number: header.number, index }), PLACED)
    if (partEnds(0)) yield
  }
}

/** Adds the removal of these rows of a stored block to the batch; returns the proof headers that it held. */
export const removeBlockRows = async (batch: Batch, store: Store, number: number): Promise<readonly Uint8Array[]> => {
  const key = numberKey(number)
  const row = await store.get(BUCKETS.body, key)
  assert(row !== undefined, 'a block that is removed is stored')
  const body = new BodyRow(row)
  for (let index = 0; index < body.count; index++)
    batch.del(BUCKETS.transactionPlace, lookupKey(body.transactionHash(index), { number, index }))
  batch.del(BUCKETS.blockNumber, hexToBytes(body.blockHash))
  removeReceipts(batch, store, number)
  for (const bucket of BY_NUMBER) batch.del(bucket, key)
  return body.encodable().proofHeaders
}

const BY_NUMBER = [
  BUCKETS.header,
  BUCKETS.body,
  BUCKETS.internalTransfers,
  BUCKETS.failedExecutions,
  BUCKETS.certificate,
] as const

export const putHead = (batch: Batch, number: number): void => {
  batch.put(BUCKETS.meta, HEAD_ROW, numberKey(number))
}

/** Returns the number of the head; undefined before genesis. */
export const readHead = (store: Pick<Store, 'getSync'>): number | undefined => {
  const row = store.getSync(BUCKETS.meta, HEAD_ROW)
  return row && readNumber(row)
}
