import { assert } from '@tandem/base/assert.ts'
import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { recoverSender } from '../../../crypto/recovery/recover-sender.ts'
import { type Block, type DecodedBlock, decodeBlock } from '../../../primitives/block.ts'
import type { Certificate } from '../../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../../primitives/consensus/extra-data.ts'
import { decodeHeader } from '../../../primitives/header.ts'
import { bloomFromLogs } from '../../../primitives/receipt/bloom.ts'
import { decodeReceipt, deriveReceipts, type Receipt } from '../../../primitives/receipt/receipt.ts'
import { decodeRlpList } from '../../../primitives/rlp/rlp.ts'
import { receiptsRoot } from '../../../primitives/roots.ts'
import { withSender } from '../../../primitives/transaction/transaction.ts'
import { checkBody } from '../../../rules/body.ts'
import { falseReceipts, falseSnapshot } from '../../../state/snapshot/records.ts'
import type { Batch } from '../../../storage/batch.ts'
import { BUCKETS } from '../../../storage/buckets.ts'
import { numberKey } from '../../../storage/keys.ts'
import type { Store } from '../../../storage/store.ts'
import { putPastProofs } from '../../proof/proof-rows.ts'
import { nativePrices } from '../../store/block-store.ts'
import { putEarliestBlock } from '../../store/earliest-block.ts'
import { putBlockRows } from '../../store/put-block.ts'

/** Upper end of the missing history: the hash of the next block, from its child, and its certificate, from the child's header. */
export interface HistoryTip {
  readonly number: number
  readonly hash: Hex
  readonly certificate: Certificate
}

/** Historic blocks from peers, ascending: the RLP of each, and of the list of its encoded receipts. */
export interface HistoryRange {
  readonly blocks: readonly Uint8Array[]
  readonly receipts: readonly Uint8Array[]
}

/**
 * Adds the rows of blocks that end with `tip` to the batch, from the last to the first; returns the tip for those before. Each hash must
 * match the child's parentHash, and body and receipts must match the roots of the header: nothing is executed. Throws SNAPSHOT_FALSE,
 * RECEIPTS_FALSE.
 */
const putHistory = (batch: Batch, { blocks, receipts }: HistoryRange, tip: HistoryTip): HistoryTip => {
  let at = tip
  for (let index = blocks.length - 1; index >= 0; index--) {
    const block = checkedBlock(blocks[index] as Uint8Array, at)
    const { header } = block
    const rows = {
      block,
      receipts: checkedReceipts(receipts[index] ?? new Uint8Array(0), block),
      certificate: at.certificate,
    }
    finishSlicedWork(putBlockRows(batch, rows))
    putPastProofs(batch, header.number, block.proofHeaders)
    const { parentCertificate } = block.extra
    if (parentCertificate === null) {
      if (index > 0) throw falseSnapshot('blocks below it', header.number)
      return { ...at, number: 0, hash: header.parentHash }
    }
    at = { number: header.number - 1, hash: header.parentHash, certificate: parentCertificate }
  }
  return at
}

const checkedBlock = (bytes: Uint8Array, { number, hash }: HistoryTip) =>
  telling(falseSnapshot, number, () => {
    const decoded = decodeBlock(bytes)
    if (decoded.hash !== hash || decoded.header.number !== number) throw falseSnapshot('it is another')
    const extra = decodeExtraData(decoded.header.extraData)
    checkBody(decoded, extra)
    return { ...withSenders(decoded), extra }
  })

const withSenders = (decoded: DecodedBlock): Block => ({
  ...decoded,
  transactions: decoded.transactions.map(transaction => withSender(transaction, recoverSender(transaction.raw))),
})

const checkedReceipts = (bytes: Uint8Array, { header, transactions }: Block): readonly Receipt[] =>
  telling(falseReceipts, header.number, () => {
    const stored = decodeRlpList(bytes).map(item => {
      if (!(item instanceof Uint8Array)) throw falseReceipts('a receipt is a string')
      return decodeReceipt(item)
    })
    if (stored.length !== transactions.length) throw falseReceipts('one for each transaction')
    const receipts = finishSlicedWork(deriveReceipts(stored, { transactions, ...nativePrices(header) }))
    if (receiptsRoot(receipts) !== header.receiptsRoot) throw falseReceipts('they make another root')
    if (!bytesEqual(bloomFromLogs(receipts.flatMap(({ logs }) => logs)), header.logsBloom))
      throw falseReceipts('they make another bloom')
    return receipts
  })

/** Converts any decoding error into an error that blames the sender of a block. */
const telling = <T>(asFalse: (reason: string, number: number) => Error, number: number, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (!isCoded(error)) throw error
    const { detail } = error
    throw asFalse('reason' in detail ? String(detail.reason) : error.message, number)
  }
}

/** Returns the tip below the first stored header; undefined when the history is complete. `earliest`: the first stored block. */
export const tipBelow = async (store: Store, earliest: number): Promise<HistoryTip | undefined> => {
  if (earliest <= 1) return undefined
  const row = await store.get(BUCKETS.header, numberKey(earliest))
  assert(row !== undefined, 'history begins with a block')
  const header = decodeHeader(row)
  const { parentCertificate } = decodeExtraData(header.extraData)
  assert(parentCertificate !== null, 'a block above the first has a parent certificate')
  return { number: earliest - 1, hash: header.parentHash, certificate: parentCertificate }
}

/** Writes blocks below `tip` and the new start of the history; returns the tip for those before. Throws as `putHistory`. */
export const writeHistory = async (store: Store, range: HistoryRange, tip: HistoryTip): Promise<HistoryTip> => {
  using batch = store.batch()
  const next = putHistory(batch, range, tip)
  putEarliestBlock(batch, next.number + 1)
  await batch.write()
  return next
}
