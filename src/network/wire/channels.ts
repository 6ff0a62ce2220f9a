/** Policy for a message at a full queue: `oldest`, `newest`: that one is dropped; `close`: the connection ends, as the peer reads nothing. */
type DropPolicy = 'oldest' | 'newest' | 'close'

interface ChannelSpec {
  /** Id on the wire; lower ids are sent first. */
  readonly id: number
  /** Limit of queued bytes to one peer. */
  readonly queueBytes: number
  readonly drop: DropPolicy
  readonly carries: string
}

/** Channels of one connection. Frames of a lower id go first, so a vote waits at most for bytes already in the socket. */
export const CHANNELS = {
  control: { id: 0, queueBytes: 256 * 1024, drop: 'close', carries: 'handshake, ping, peer records' },
  /** Lost messages are resent (docs/design/consensus.md#state-machine), and the newest matters most. */
  votes: {
    id: 1,
    queueBytes: 4 * 1024 * 1024,
    drop: 'oldest',
    carries: 'votes and status of the open height',
  },
  proposals: {
    id: 2,
    queueBytes: 16 * 1024 * 1024,
    drop: 'oldest',
    carries: 'proposals and bodies requested by members',
  },
  /** The requester tries another peer. */
  sync: {
    id: 3,
    queueBytes: 24 * 1024 * 1024,
    drop: 'newest',
    carries: 'announced blocks, evidence, requests and responses',
  },
  transactions: { id: 4, queueBytes: 4 * 1024 * 1024, drop: 'newest', carries: 'transactions' },
} as const satisfies Record<string, ChannelSpec>

export type ChannelName = keyof typeof CHANNELS

export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]

/** Returns undefined when there is no such channel. */
export const channelFromId = (id: number): ChannelName | undefined => CHANNEL_NAMES[id]
