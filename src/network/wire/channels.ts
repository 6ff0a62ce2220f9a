/** What happens to a message that finds its channel's queue full. `oldest`, `newest`: that one is let go; `close`: the peer reads nothing. */
export type DropPolicy = 'oldest' | 'newest' | 'close'

export interface ChannelSpec {
  /** On the wire; the lower is sent first. */
  readonly id: number
  /** Of messages that wait for the socket, to one peer. */
  readonly queueBytes: number
  readonly drop: DropPolicy
  readonly carries: string
}

/**
 * One connection carries all channels. A frame of a lower number goes out before any of a higher one, so a vote waits for at most what
 * the socket has already been given.
 */
export const CHANNELS = {
  control: { id: 0, queueBytes: 256 * 1024, drop: 'close', carries: 'handshake, ping, peer records' },
  /** What is lost is said again (docs/design/consensus.md#state-machine), and the newest is worth most. */
  votes: {
    id: 1,
    queueBytes: 4 * 1024 * 1024,
    drop: 'oldest',
    carries: 'votes and what members have of the open height',
  },
  proposals: {
    id: 2,
    queueBytes: 16 * 1024 * 1024,
    drop: 'oldest',
    carries: 'proposals and bodies asked for by members',
  },
  /** Whoever asked asks another peer. */
  sync: {
    id: 3,
    queueBytes: 24 * 1024 * 1024,
    drop: 'newest',
    carries: 'announced blocks, evidence, requests and answers',
  },
  transactions: { id: 4, queueBytes: 4 * 1024 * 1024, drop: 'newest', carries: 'transactions' },
} as const satisfies Record<string, ChannelSpec>

export type ChannelName = keyof typeof CHANNELS

export const CHANNEL_NAMES = Object.keys(CHANNELS) as readonly ChannelName[]

/** undefined: there is no such channel. */
export const channelFromId = (id: number): ChannelName | undefined => CHANNEL_NAMES[id]
