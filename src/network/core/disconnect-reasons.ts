/** Reasons of a disconnect, sent to the other side. `wait`: redial soon (`backoff`), after a likely restart (`long`), or never. */
export const DISCONNECT_REASONS = {
  stopping: { code: 0, text: 'the node is stopping', wait: 'backoff' },
  wrongVersion: { code: 1, text: 'another version of the protocol', wait: 'long' },
  wrongChain: { code: 2, text: 'another chain id', wait: 'long' },
  wrongGenesis: { code: 3, text: 'another genesis block', wait: 'long' },
  wrongForks: { code: 4, text: 'forks at other heights', wait: 'long' },
  wrongIdentity: { code: 5, text: 'not the dialed node, or not the one it proved to be', wait: 'backoff' },
  badProof: { code: 6, text: 'a validator proof that was not made for this connection', wait: 'long' },
  self: { code: 7, text: 'a connection to itself', wait: 'never' },
  duplicate: { code: 8, text: 'the two nodes are connected already', wait: 'backoff' },
  tooManyPeers: { code: 9, text: 'no place for another peer', wait: 'backoff' },
  tooManyFromAddress: { code: 10, text: 'too many connections from this address', wait: 'backoff' },
  banned: { code: 11, text: 'banned for a while', wait: 'long' },
  // 12 was an allow list's.
  malformed: { code: 13, text: 'bytes that are not of the protocol', wait: 'long' },
  timeout: { code: 14, text: 'silent for too long', wait: 'backoff' },
  slow: { code: 15, text: 'a message took too long', wait: 'backoff' },
  misbehaved: { code: 16, text: 'misbehaved too often', wait: 'backoff' },
  overloaded: { code: 17, text: 'takes nothing that is sent', wait: 'backoff' },
  removed: { code: 18, text: 'removed by the operator', wait: 'long' },
} as const satisfies Record<string, { readonly code: number; readonly text: string; readonly wait: Wait }>

type Wait = 'backoff' | 'long' | 'never'
export type DisconnectReason = keyof typeof DISCONNECT_REASONS

const NAMES = new Map<number, DisconnectReason>(
  Object.entries(DISCONNECT_REASONS).map(([name, { code }]) => [code, name as DisconnectReason]),
)

/** Returns undefined when no reason has this code. */
export const disconnectReasonFromCode = (code: number): DisconnectReason | undefined => NAMES.get(code)
