import type { Hex } from '@tandem/base/bytes.ts'
import type { PeerSlot } from './core/peer-slots.ts'
import { peerUrl } from './identity/peer-url.ts'
import type { Peer } from './peer/peer.ts'
import type { PeerHead } from './wire/control.ts'

/** Connected node, as shown to the operator. */
export interface PeerDescription {
  readonly id: string
  readonly client: string
  /** URL at which it can be dialed; null: not known. */
  readonly url: string | null
  readonly localAddress: string
  readonly remoteAddress: string
  readonly inbound: boolean
  readonly place: PeerSlot
  readonly isStatic: boolean
  /** Committee member it proved to represent. */
  readonly validator: Hex | null
  readonly head: PeerHead
  readonly earliest: number
  /** 0 to -100. */
  readonly score: number
  readonly rttMs: number | null
  readonly connectedAtMs: number
  readonly receivedBytes: number
  readonly sentBytes: number
}

interface KnownOfPeer {
  readonly host: string | undefined
  readonly port: number | undefined
  readonly score: number
  readonly isStatic: boolean
}

export const describePeer = (peer: Peer, { host, port, score, isStatic }: KnownOfPeer): PeerDescription => ({
  id: peer.id,
  client: peer.hello.client,
  url: host === undefined || port === undefined ? null : peerUrl({ id: peer.id, host, port }),
  localAddress: peer.localAddress,
  remoteAddress: peer.remoteAddress,
  inbound: peer.inbound,
  place: peer.place,
  isStatic,
  validator: peer.validator,
  head: peer.head,
  earliest: peer.earliest,
  score,
  rttMs: peer.rttMs,
  connectedAtMs: peer.connectedAtMs,
  ...peer.trafficCounters,
})
