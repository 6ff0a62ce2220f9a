import type { Quota } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CONSENSUS_BOUNDS } from '../../config/protocol-bounds.ts'
import type { ChannelName } from '../wire/channels.ts'
import type { WireCodec } from '../wire/payload-codec.ts'

/** Declaration of one kind of message. */
export interface MessageSpec<T> {
  /** Id on the wire; never reused for another meaning. */
  readonly id: number
  readonly channel: ChannelName
  /** Limit of the payload. */
  readonly maxBytes: number
  /** Quota of one peer (the committee's messages: of one sender over its connections), which its receiver enforces and its sender stays below (`paceOf`, `costOf`). */
  readonly quota: Quota
  readonly codec: WireCodec<T>
  /** Permitted senders; the handshake comes before anything else. */
  readonly from: 'anyone' | 'committee' | 'handshake'
  readonly summary: string
}

type Declared<T, Left extends keyof MessageSpec<T>> = Omit<MessageSpec<T>, 'channel' | 'id' | 'from' | Left> &
  Partial<Pick<MessageSpec<T>, 'from'>>

/** Declares message `id` of a channel, which anyone may send unless `from` names others. */
export const declareMessage = <T>(channel: ChannelName, id: number, spec: Declared<T, never>): MessageSpec<T> => ({
  channel,
  id,
  from: 'anyone',
  ...spec,
})
/** Declares a response: it is bounded by the requests, not by a rate. */
export const declareResponse = <T>(channel: ChannelName, id: number, spec: Declared<T, 'quota'>): MessageSpec<T> =>
  declareMessage<T>(channel, id, { ...spec, quota: quota(0, 0) } as Declared<T, never>)
/** Quota of messages a second, with the burst that may come at once. */
export const quota = (perSecond: number, burst: number): Quota => ({ perSecond, burst })
/** Quota of all messages of the committee from a peer that is outside it: they are skipped, and each costs an opened record. */
export const OUTSIDER_QUOTA = quota(32, 256)

/** Returns the cost of a message: 1, and 1 more for each frame's worth of bytes, since the work grows with them. */
export const costOf = (payloadBytes: number): number => 1 + Math.floor(payloadBytes / NETWORK_LIMITS.fragmentBytes)

/**
 * Returns the pace of an honest sender: half of the burst, so that what a slow line held back for seconds is within the quota when it
 * arrives at once, and half of the rate; four fifths of it for requests, of which only a few are without a response at any time.
 */
export const paceOf = ({ perSecond, burst }: Quota, isRequest: boolean): Quota =>
  quota(perSecond * (isRequest ? 0.8 : 0.5), Math.max(1, burst / 2))

export const KIB = 1024
export const MIB = 1024 * KIB
/** Beyond the soft limit a response holds one item more, at most a whole block. */
export const ANSWER_BYTES = NETWORK_LIMITS.answerBytes + CONSENSUS_BOUNDS.proposalBytes
/** Largest encoding overhead of a list of strings. */
export const LIST_OVERHEAD = KIB
