import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { listCodec, readItems, throwMalformed, type WireCodec } from './payload-codec.ts'
import { hashesCodec } from './sync.ts'

const { announcedHashes, requestedHashes, leastTransactionBytes } = NETWORK_LIMITS

export const announcedCodec = hashesCodec(announcedHashes)
export const requestedCodec = hashesCodec(requestedHashes)

/** Raw transactions (EIP-2718), each as a string. */
export const transactionsCodec: WireCodec<readonly Uint8Array[]> = listCodec(
  transactions => encodeRlp([transactions]),
  cursor =>
    readItems(cursor, announcedHashes, item => {
      const raw = item.boundedBytes(BLOCK_BOUNDS.transactionBytes)
      if (raw.byteLength < leastTransactionBytes) throw throwMalformed(`a transaction of ${raw.byteLength} bytes`)
      return raw
    }),
)
