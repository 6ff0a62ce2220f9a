import { LIMITS } from '../config/limits.ts'
import type { BlockCodec } from '../consensus/ports.ts'
import type { SenderRecovery } from '../crypto/recovery.ts'
import { senderOf } from '../crypto/recovery-batch.ts'
import { sha256 } from '../crypto/sha256.ts'
import { type Block, type DecodedBlock, decodeBlock, encodeBlock } from '../primitives/block.ts'
import { withSender } from '../primitives/transaction.ts'
import { asBuffer } from '../util/bytes.ts'
import { Lru } from '../util/lru.ts'

export type RecoverMany = Pick<SenderRecovery, 'recoverMany'>

/** Decoding recovers the senders in their workers. */
export const blockCodec = (recovery: RecoverMany): BlockCodec => ({
  encode: encodeBlock,
  decode: async bytes => withSenders(recovery, decodeBlock(bytes)),
})

/**
 * The same, for the network: each block comes from several neighbours, in later rounds, and again from those who take this node to be
 * behind. The same bytes are decoded once.
 */
export const rememberingCodec = ({ encode, decode }: BlockCodec): BlockCodec => {
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

/** Rejects with INVALID_SENDER; with an error that is not coded when the recovery itself failed, which says nothing of the block. */
export const withSenders = async (recovery: RecoverMany, decoded: DecodedBlock): Promise<Block> => {
  const senders = await recovery
    .recoverMany(decoded.transactions.map(({ raw }) => raw))
    .catch((error: unknown) => Promise.reject(new Error('the senders of a block were not recovered', { cause: error })))
  const transactions = decoded.transactions.map((transaction, index) =>
    withSender(transaction, senderOf(senders[index])),
  )
  return { ...decoded, transactions }
}
