import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { listCodec, malformedMessage, type WireCodec } from '../wire/payload-codec.ts'
import { declareMessage, declareResponse, LIST_OVERHEAD, quota } from './message-spec.ts'
import { hashesCodec } from './sync-messages.ts'

const { announcedHashes, requestedHashes, leastTransactionBytes } = NETWORK_LIMITS

/** Raw transactions (EIP-2718), each as a string. */
const transactionsCodec: WireCodec<readonly Uint8Array[]> = listCodec(
  transactions => encodeRlp([transactions]),
  cursor =>
    cursor.items(item => {
      const raw = item.boundedBytes(BLOCK_BOUNDS.transactionBytes)
      if (raw.byteLength < leastTransactionBytes) throw malformedMessage(`a transaction of ${raw.byteLength} bytes`)
      return raw
    }, announcedHashes),
)

/** Messages that relay transactions. */
export const TRANSACTION_MESSAGES = {
  transactionHashes: declareMessage('transactions', 64, {
    maxBytes: NETWORK_LIMITS.announcedHashes * 33 + LIST_OVERHEAD,
    quota: quota(60, 480),
    codec: hashesCodec(announcedHashes),
    summary: 'Hashes of transactions the sender has',
  }),
  newTransactions: declareMessage('transactions', 65, {
    maxBytes: NETWORK_LIMITS.batchBytes + BLOCK_BOUNDS.transactionBytes + LIST_OVERHEAD,
    quota: quota(60, 480),
    codec: transactionsCodec,
    summary: 'Transactions, whole: to validators and to the square root of the other peers',
  }),
  getTransactions: declareMessage('transactions', 66, {
    maxBytes: NETWORK_LIMITS.requestedHashes * 33 + LIST_OVERHEAD,
    quota: quota(20, 100),
    codec: hashesCodec(requestedHashes),
    summary: 'Requests announced transactions',
  }),
  transactions: declareResponse('transactions', 67, {
    maxBytes: NETWORK_LIMITS.batchBytes + BLOCK_BOUNDS.transactionBytes + LIST_OVERHEAD,
    codec: transactionsCodec,
    summary: 'Those of them the sender has, as many as fit',
  }),
} as const
