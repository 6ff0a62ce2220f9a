import { LIMITS } from '../../config/limits.ts'
import { encodeRlp } from '../../primitives/rlp.ts'
import { listCodec, readItems, throwMalformed, type WireCodec } from './payload-codec.ts'
import { hashesCodec } from './sync.ts'

const { announcedHashes, requestedHashes } = LIMITS.network

export const announcedCodec = hashesCodec(announcedHashes)
export const requestedCodec = hashesCodec(requestedHashes)

/** Raw transactions (EIP-2718), each as a string. */
export const transactionsCodec: WireCodec<readonly Uint8Array[]> = listCodec(
  transactions => encodeRlp([transactions]),
  cursor =>
    readItems(cursor, announcedHashes, item => {
      const raw = item.boundedBytes(LIMITS.block.transactionBytes)
      if (raw.byteLength === 0) throw throwMalformed('an empty transaction')
      return raw
    }),
)
