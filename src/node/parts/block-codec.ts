import { LIMITS } from '../../config/limits.ts'
import { senderOrThrow } from '../../crypto/recovery/batch.ts'
import type { RecoverMany } from '../../crypto/recovery/known-senders.ts'
import { sha256 } from '../../crypto/sha256.ts'
import { type Block, type DecodedBlock, decodeBlock, encodeBlock } from '../../primitives/block.ts'
import type { BlockCodec } from '../../primitives/block-codec.ts'
import { readExtraData } from '../../primitives/extra-data.ts'
import { withSender } from '../../primitives/transaction.ts'
import { checkBody, keepChecked } from '../../rules/body.ts'
import { asBuffer } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import { Lru } from '../../util/lru.ts'

/** Decoding recovers the senders in their workers. */
export const blockCodec = (recovery: RecoverMany): BlockCodec => ({
  encode: encodeBlock,
  decode: async bytes => withSenders(recovery, decodeBlock(bytes)),
})

/** The same, for the network: a body that is not its header's is refused before its senders cost anything. */
export const networkCodec = (recovery: RecoverMany): BlockCodec => ({
  encode: encodeBlock,
  async decode(bytes) {
    const decoded = decodeBlock(bytes)
    const extra = readExtraData(decoded.header)
    // Without extra data there is nothing to compare with: its proposer signed it, and it is judged and refused.
    if (extra !== undefined) checkBody(decoded, extra)
    const block = await withSenders(recovery, decoded)
    keepChecked(decoded, block)
    return block
  },
})

/**
 * Decodes once what comes often: each block comes from several neighbours, in later rounds, and again from those who take this node to be
 * behind. The same bytes are decoded once.
 */
export const cachingBlockCodec = ({ encode, decode }: BlockCodec): BlockCodec => {
  const decoded = new Lru<string, Promise<Block>>(LIMITS.network.decodedBlocks)
  return {
    encode,
    decode(bytes) {
      const key = asBuffer(sha256(bytes)).toString('latin1')
      const known = decoded.get(key)
      if (known !== undefined) return known
      const block = decode(bytes)
      decoded.set(key, block)
      // It may have been for want of room: the next copy is tried anew.
      block.catch(() => decoded.delete(key))
      return block
    },
  }
}

/** No thread had room for the senders, or they are being stopped; that says nothing of the block. */
export type RecoveryUnavailable = { readonly code: 'RECOVERY_UNAVAILABLE' }

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
