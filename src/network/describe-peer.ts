import type { Hex } from '@tandem/base/bytes.ts'
import type { PeerSlot } from './core/peer-slots.ts'
import { peerUrl } from './identity/peer-url.ts'
import type { PeerHead } from './messages/control-messages.ts'
import type { TrafficCounters } from './peer/connection.ts'
import type { Peer } from './peer/peer.ts'

type OfPeer = Readonly<
  Pick<Peer, 'id' | 'localAddress' | 'remoteAddress' | 'inbound' | 'earliest' | 'rttMs' | 'connectedAtMs'>
>

/** Connected node, as shown to the operator. */
export interface PeerDescription extends OfPeer, TrafficCounters {
  readonly client: string
  /** URL at which it can be dialed; null: not known. */
  readonly url: string | null
  readonly place: PeerSlot
  readonly isStatic: boolean
  /** Committee member it proved to represent. */
  readonly validator: Hex | null
  readonly head: PeerHead
  /** 0 to -100. */
  readonly score: number
}

interface KnownOfPeer {
  readonly host: string | undefined
  readonly port: number | undefined
  readonly score: number
  readonly isStatic: boolean
}

export const describePeer = (peer: Peer, { host, port, score, isStatic }: KnownOfPeer): PeerDescription => {
  const { id, localAddress, remoteAddress, inbound, place, validator, head, earliest, rttMs, connectedAtMs } = peer
  const own = { id, localAddress, remoteAddress, inbound, place, validator, head, earliest, rttMs, connectedAtMs }
  const url = host === undefined || port === undefined ? null : peerUrl({ id, host, port })
  return { ...own, client: peer.hello.client, url, isStatic, score, ...peer.trafficCounters }
}
