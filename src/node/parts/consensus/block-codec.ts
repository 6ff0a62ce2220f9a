import { asBuffer } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { Lru } from '@tandem/base/lru.ts'
import { NETWORK_LIMITS } from '../../../config/limits/network.ts'
import { senderOrThrow } from '../../../crypto/recovery/batch.ts'
import type { RecoverMany } from '../../../crypto/recovery/known-senders.ts'
import { sha256 } from '../../../crypto/sha256.ts'
import { type Block, type BlockCodec, type DecodedBlock, decodeBlock, encodeBlock } from '../../../primitives/block.ts'
import { readExtraData } from '../../../primitives/consensus/extra-data.ts'
import { withSender } from '../../../primitives/transaction/transaction.ts'
import { checkBody, keepChecked } from '../../../rules/body.ts'

/** Decoding recovers the senders in worker threads. */
export const blockCodec = (recovery: RecoverMany): BlockCodec => ({
  encode: encodeBlock,
  decode: async bytes => withSenders(recovery, decodeBlock(bytes)),
})

/** Codec for the network: a body that does not match its header is rejected before its senders are recovered. */
export const networkCodec = (recovery: RecoverMany): BlockCodec => ({
  encode: encodeBlock,
  async decode(bytes) {
    const decoded = decodeBlock(bytes)
    const extra = readExtraData(decoded.header)
    // Without extra data there is nothing to compare with: the signed proposal is validated and rejected.
    if (extra !== undefined) checkBody(decoded, extra)
    const block = await withSenders(recovery, decoded)
    keepChecked(decoded, block)
    return block
  },
})

/** Decodes repeated blocks once, by their bytes: each comes from several neighbours, and again in later rounds. */
export const cachingBlockCodec = ({ encode, decode }: BlockCodec): BlockCodec => {
  const decoded = new Lru<string, Promise<Block>>(NETWORK_LIMITS.decodedBlocks)
  return {
    encode,
    decode(bytes) {
      const key = asBuffer(sha256(bytes)).toString('latin1')
      const known = decoded.get(key)
      if (known !== undefined) return known
      const block = decode(bytes)
      decoded.set(key, block)
      // The failure may have been a lack of room: the next copy is decoded anew.
      block.catch(() => decoded.delete(key))
      return block
    },
  }
}

/** The recovery workers have no room, or are stopping; the block may be valid. */
type RecoveryUnavailable = { readonly code: 'RECOVERY_UNAVAILABLE' }

/** Rejects with INVALID_SENDER, or with RECOVERY_UNAVAILABLE. */
export const withSenders = async (recovery: RecoverMany, decoded: DecodedBlock): Promise<Block> => {
  const senders = await recovery
    .recoverMany(decoded.transactions.map(({ raw }) => raw))
    .catch((cause: unknown) =>
      Promise.reject(new CodedError<RecoveryUnavailable>({ code: 'RECOVERY_UNAVAILABLE' }, { cause })),
    )
  const transactions = decoded.transactions.map((transaction, index) =>
    withSender(transaction, senderOrThrow(senders[index])),
  )
  return { ...decoded, transactions }
}
