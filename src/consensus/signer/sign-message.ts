import type { SignedHead, SignedMessage } from '../../primitives/consensus/message.ts'
import { proposalDigest } from '../../primitives/consensus/proposal.ts'
import { blockVoteDigest, roundChangeDigest, type SigningDomain } from '../../primitives/consensus/vote.ts'
import type { UnsignedMessage } from '../core/types.ts'
import type { ConsensusSigner } from '../engine/types.ts'
import type { Watermark } from './watermark.ts'

/** What a message's signature covers (reference/consensus.md 1.2). */
export const digestOf = (domain: SigningDomain, message: UnsignedMessage | SignedMessage | SignedHead): Uint8Array => {
  switch (message.type) {
    case 'proposal':
      return proposalDigest(domain, {
        ...message,
        blockHash: 'block' in message ? message.block.hash : message.blockHash,
      })
    case 'prepare':
    case 'commit':
      return blockVoteDigest(domain, message)
    case 'roundChange':
      return roundChangeDigest(domain, message)
  }
}

/**
 * Signs as committee member `sender`, guarded by the watermark. The answer must not leave the process before log and watermark
 * are durable. Throws SIGNING_REFUSED.
 */
export const signMessage = (
  message: UnsignedMessage,
  sender: number,
  {
    domain,
    signer,
    watermark,
  }: { domain: SigningDomain; signer: ConsensusSigner; watermark: Pick<Watermark, 'check' | 'advance'> },
): SignedMessage => {
  const position = { number: message.number, round: message.round, step: message.type }
  const digest = digestOf(domain, message)
  const given = watermark.check(position, digest)
  const signature = given ?? signer.sign(digest)
  if (given === null) watermark.advance({ ...position, digest, signature })
  return { ...message, sender, signature }
}
