/** Expected failures of the network. */
export type NetworkError =
  | { readonly code: 'NODE_KEY_INVALID'; readonly path: string; readonly reason: string }
  /** `reason` says what to write instead. */
  | { readonly code: 'PEER_URL_INVALID'; readonly url: string; readonly reason: string }
  | { readonly code: 'TOO_MANY_STATIC_PEERS'; readonly limit: number }

/** Failures of a request. */
export type RequestError =
  | { readonly code: 'NO_PEER'; readonly request: string }
  | { readonly code: 'REQUEST_TIMEOUT'; readonly request: string }
  | { readonly code: 'PEER_BUSY'; readonly request: string }
  | { readonly code: 'PEER_GONE'; readonly request: string }

/** Bytes that end the connection: a peer's own, or damaged ones, which may be anybody's. */
export type ProtocolError = { readonly code: 'PROTOCOL_BROKEN' | 'RECORD_DAMAGED'; readonly reason: string }
