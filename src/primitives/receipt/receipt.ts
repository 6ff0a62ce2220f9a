import { assert } from '@tandem/base/assert.ts'
import { finishSlicedWork, partCounter, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { EMPTY_BYTES, freeLarge, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { GAS_PER_BLOB } from '../../config/forks.ts'
import { decodeOrMalformed, decodePartsOrMalformed, malformed } from '../rlp/malformed.ts'
import { encodeRlpList, rlpListBytes, rlpStringBytes, uintItem, writeRlpHeader, writeRlpString } from '../rlp/rlp.ts'
import { RlpCursor } from '../rlp/rlp-cursor.ts'
import { effectiveGasPrice, type Transaction } from '../transaction/transaction.ts'
import { createAddress } from './address.ts'
import { BLOOM_BYTES, bloomFromLogs, EMPTY_BLOOM, GrowingBloom } from './bloom.ts'
import { encodeLogs, type Log, NO_LOGS, readLogs, readLogsInOrder } from './log.ts'

export interface Receipt {
  readonly type: number
  /** Byzantium and later. */
  readonly status?: 0 | 1
  /** Post-transaction state root, before Byzantium (fixture mode only). */
  readonly root?: Hex
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  readonly effectiveGasPrice: bigint
  readonly contractAddress: Hex | null
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  readonly blobGasUsed?: bigint
  readonly blobGasPrice?: bigint
}

const ONE = Uint8Array.of(1)

/** Encodes a receipt for the root: RLP[status or state root, cumulative gas, bloom, logs], after a type byte (EIP-2718). */
export const encodeReceipt = (receipt: Receipt): Uint8Array => {
  if (receipt.type === 0) return encodeFields(receipt, receipt.logsBloom, 0)
  const out = encodeFields(receipt, receipt.logsBloom, 1)
  out[0] = receipt.type
  return out
}

const BLOOM_STRING_BYTES = rlpListBytes(BLOOM_BYTES)

/** Encodes a receipt, with its bloom if given, after so many free bytes. */
const encodeFields = (receipt: StoredReceipt, bloom: Uint8Array | undefined, free: number): Uint8Array => {
  const outcome = outcomeItem(receipt)
  const gas = uintItem(receipt.cumulativeGasUsed)
  const logs = encodeLogs(receipt.logs)
  const bloomBytes = bloom === undefined ? 0 : BLOOM_STRING_BYTES
  const payload = rlpStringBytes(outcome) + rlpStringBytes(gas) + bloomBytes + logs.byteLength
  const out = new Uint8Array(free + rlpListBytes(payload))
  let at = writeRlpHeader(out, free, payload, 0xc0)
  at = writeRlpString(outcome, out, at)
  at = writeRlpString(gas, out, at)
  if (bloom !== undefined) {
    at = writeRlpHeader(out, at, BLOOM_BYTES, 0x80)
    // Fresh memory is an empty bloom already.
    if (bloom !== EMPTY_BLOOM) out.set(bloom, at)
    at += BLOOM_BYTES
  }
  out.set(logs, at)
  return out
}

const outcomeItem = (receipt: Pick<Receipt, 'status' | 'root'>): Uint8Array => {
  if (receipt.root !== undefined) return hexToBytes(receipt.root)
  assert(receipt.status !== undefined, 'a receipt has a status or a state root')
  return receipt.status === 1 ? ONE : EMPTY_BYTES
}

/** Stored receipt: everything that cannot be derived from the block's transactions and header. */
export interface StoredReceipt {
  readonly status?: 0 | 1
  readonly root?: Hex
  readonly cumulativeGasUsed: bigint
  readonly logs: readonly Log[]
}

/** Encodes the stored receipts of one block. */
export const encodeStoredReceipts = (receipts: readonly StoredReceipt[]): Uint8Array =>
  finishSlicedWork(storedReceiptParts(receipts))

/** Encodes the stored receipts of a block in parts: they may be 40 MB. */
export function* storedReceiptParts(receipts: readonly StoredReceipt[]): SlicedWork<Uint8Array> {
  const encoded = yield* encodeInParts(receipts, receipt => encodeFields(receipt, undefined, 0))
  const row = encodeRlpList(encoded)
  freeLarge(encoded)
  return row
}

/** Encodes receipts one after the other, in parts. */
export function* encodeInParts<Item>(
  receipts: readonly Item[],
  encode: (receipt: Item) => Uint8Array,
): SlicedWork<readonly Uint8Array[]> {
  const partEnds = partCounter()
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    const bytes = encode(receipt)
    encoded.push(bytes)
    if (partEnds(bytes.byteLength)) yield
  }
  return encoded
}

/** Decodes the stored receipts of one block, one log in a part: they may be 40 MB. Throws RECEIPT_MALFORMED. */
export const decodeStoredReceipts = (bytes: Uint8Array): SlicedWork<readonly StoredReceipt[]> =>
  decodePartsOrMalformed('RECEIPT_MALFORMED', readStoredReceipts(bytes))

function* readStoredReceipts(bytes: Uint8Array): SlicedWork<readonly StoredReceipt[]> {
  const cursor = new RlpCursor(bytes)
  const outer = cursor.openList()
  const receipts: StoredReceipt[] = []
  while (cursor.hasMore()) {
    const receipt = cursor.openList()
    const outcome = readStoredOutcome(cursor)
    const logs: Log[] = []
    for (const log of readLogsInOrder(cursor)) {
      logs.push(log)
      yield
    }
    cursor.closeList(receipt)
    receipts.push({ ...outcome, logs: logs.length === 0 ? NO_LOGS : logs })
    yield
  }
  cursor.closeList(outer)
  cursor.finish()
  return receipts
}

/** Reads one item of `encodeStoredReceipts` at the cursor. Throws RLP_INVALID or RECEIPT_MALFORMED. */
export const readStoredReceipt = (cursor: RlpCursor): StoredReceipt =>
  cursor.list(() => ({ ...readStoredOutcome(cursor), logs: readLogs(cursor) }))

/** Reads what comes before the logs in the list of such an item. Throws RLP_INVALID or RECEIPT_MALFORMED. */
export const readStoredOutcome = (cursor: RlpCursor): Omit<StoredReceipt, 'logs'> => ({
  ...readOutcome(cursor),
  cumulativeGasUsed: cursor.uint(8),
})

/** Reads only the cumulative gas of such an item, without its logs. Throws RLP_INVALID or RECEIPT_MALFORMED. */
export const readCumulativeGas = (cursor: RlpCursor): bigint => {
  cursor.openList()
  readOutcome(cursor)
  return cursor.uint(8)
}

/** Decodes a peer's receipt (`encodeReceipt`), without the fields that follow from its transaction. Throws RECEIPT_MALFORMED. */
export const decodeReceipt = (bytes: Uint8Array): StoredReceipt =>
  decodeOrMalformed('RECEIPT_MALFORMED', () => {
    const isTyped = (bytes[0] ?? 0) < 0xc0
    const cursor = new RlpCursor(bytes, isTyped ? 1 : 0)
    const outer = cursor.openList()
    const outcome = readStoredOutcome(cursor)
    cursor.boundedBytes(BLOOM_BYTES)
    const logs = readLogs(cursor)
    cursor.closeList(outer)
    cursor.finish()
    return { ...outcome, logs }
  })

const readOutcome = (cursor: RlpCursor): Pick<Receipt, 'status' | 'root'> => {
  const length = cursor.peekLength()
  if (length === 32) return { root: cursor.hex(32) }
  const status = cursor.safeUint()
  if (status > 1) throw malformed('RECEIPT_MALFORMED', `receipt status ${status}`)
  return { status: status as 0 | 1 }
}

/** Header values on which receipts depend. */
export interface ReceiptPrices {
  /** 0n before London. */
  readonly baseFeePerGas: bigint
  /** Price of blob gas, where blobs exist (fixture mode). */
  readonly blobGasPrice?: bigint
}

interface ReceiptContext extends ReceiptPrices {
  readonly transactions: readonly Transaction[]
}

/** Receipt without the bloom, whose hashing costs more than everything else of it. */
export type ReceiptWithoutBloom = Omit<Receipt, 'logsBloom'>

/** Derives the receipts of a block without their blooms, one in a part. */
export function* deriveWithoutBlooms(
  stored: readonly StoredReceipt[],
  context: ReceiptContext,
): SlicedWork<readonly ReceiptWithoutBloom[]> {
  assert(stored.length === context.transactions.length, 'a block has one receipt for each transaction')
  const receipts: ReceiptWithoutBloom[] = []
  let gasBefore = 0n
  for (const [index, receipt] of stored.entries()) {
    const outcome = deriveOutcome(receipt, gasBefore, context.transactions[index] as Transaction, context)
    receipts.push({ ...outcome, logs: receipt.logs })
    gasBefore = receipt.cumulativeGasUsed
    yield
  }
  return receipts
}

/** Derives complete receipts of a block, one log in a part: gas used, price, contract address, bloom follow from transactions. */
export function* deriveReceipts(
  stored: readonly StoredReceipt[],
  context: ReceiptContext,
): SlicedWork<readonly Receipt[]> {
  const receipts: Receipt[] = []
  for (const receipt of yield* deriveWithoutBlooms(stored, context)) {
    const bloom = new GrowingBloom()
    for (const log of receipt.logs) {
      bloom.add(log)
      yield
    }
    receipts.push({ ...receipt, logsBloom: bloom.bytes })
  }
  return receipts
}

/** Derives one of them; `gasBefore` is the cumulative gas of the receipt before. */
export const deriveReceipt = (
  stored: StoredReceipt,
  gasBefore: bigint,
  tx: Transaction,
  prices: ReceiptPrices,
): Receipt => ({
  ...deriveOutcome(stored, gasBefore, tx, prices),
  logsBloom: bloomFromLogs(stored.logs),
  logs: stored.logs,
})

/** Derives a receipt without its logs and their bloom. */
export const deriveOutcome = (
  stored: Omit<StoredReceipt, 'logs'>,
  gasBefore: bigint,
  tx: Transaction,
  prices: ReceiptPrices,
): Omit<Receipt, 'logs' | 'logsBloom'> => ({
  type: tx.type,
  ...(stored.root === undefined ? { status: stored.status ?? 0 } : { root: stored.root }),
  cumulativeGasUsed: stored.cumulativeGasUsed,
  gasUsed: stored.cumulativeGasUsed - gasBefore,
  effectiveGasPrice: effectiveGasPrice(tx, prices.baseFeePerGas),
  contractAddress: tx.to === null ? createAddress(tx.from, tx.nonce) : null,
  ...(tx.blobVersionedHashes !== undefined && {
    blobGasUsed: GAS_PER_BLOB * BigInt(tx.blobVersionedHashes.length),
    blobGasPrice: prices.blobGasPrice ?? 0n,
  }),
})
