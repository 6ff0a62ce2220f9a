import type { SignedHead, SignedMessage } from '../../primitives/consensus/message.ts'
import { proposalDigest } from '../../primitives/consensus/proposal.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { blockVoteDigest, roundChangeDigest, type SigningDomain } from '../../primitives/consensus/vote.ts'
import type { UnsignedMessage } from '../core/types.ts'
import type { Watermark } from './watermark.ts'

/** Digest that a message's signature covers (docs/design/consensus.md#messages). */
export const messageDigest = (
  domain: SigningDomain,
  message: UnsignedMessage | SignedMessage | SignedHead,
): Uint8Array => {
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

/** Signs as member `sender`, guarded by the watermark; to be sent once log and watermark are durable. Throws SIGNING_REFUSED. */
export const signConsensusMessage = (
  message: UnsignedMessage,
  sender: number,
  {
    domain,
    signer,
    watermark,
  }: { domain: SigningDomain; signer: ValidatorSigner; watermark: Pick<Watermark, 'check' | 'advance'> },
): SignedMessage => {
  const position = { number: message.number, round: message.round, step: message.type }
  const digest = messageDigest(domain, message)
  const given = watermark.check(position, digest)
  const signature = given ?? signer.sign(digest)
  if (given === null) watermark.advance({ ...position, digest, signature })
  return { ...message, sender, signature }
}
