import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import type { Quota } from '../../util/token-bucket.ts'
import type { ChannelName } from '../wire/channels.ts'
import type { WireCodec } from '../wire/payload-codec.ts'

/** Declaration of one kind of message. */
export interface MessageSpec<T> {
  /** Id on the wire; never reused for another meaning. */
  readonly id: number
  readonly channel: ChannelName
  /** Limit of the payload. */
  readonly maxBytes: number
  /** Quota of one peer; a message counts once, and once more for each frame's worth of bytes (peer.ts). */
  readonly quota: Quota
  readonly codec: WireCodec<T>
  /** Permitted senders; the handshake comes before anything else. */
  readonly from: 'anyone' | 'committee' | 'handshake'
  readonly summary: string
}

/** Returns the declaration, with the payload type of its codec. */
export const declareMessage = <T>(spec: MessageSpec<T>): MessageSpec<T> => spec
/** Quota of messages a second, with the burst that may come at once. */
export const quota = (perSecond: number, burst: number): Quota => ({ perSecond, burst })
/** Responses are bounded by the requests, not by a rate. */
export const ANSWER_QUOTA = quota(0, 0)

export const KIB = 1024
export const MIB = 1024 * KIB
/** Beyond the soft limit a response holds one item more, at most a whole block. */
export const ANSWER_BYTES = NETWORK_LIMITS.answerBytes + CONSENSUS_BOUNDS.proposalBytes
/** Largest encoding overhead of a list of strings. */
export const LIST_OVERHEAD = KIB
