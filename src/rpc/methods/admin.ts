import { toQuantity } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { NodeAddress } from '../../network/core/dial-scheduler.ts'
import { parsePeerUrl } from '../../network/identity/peer-url.ts'
import type { PeerDescription } from '../../network/network.ts'
import {
  ADDRESS_SCHEMA,
  BOOLEAN_SCHEMA,
  HASH_SCHEMA,
  invalidValue,
  parseString,
  QUANTITY_SCHEMA,
} from '../codecs/scalars.ts'
import {
  booleans,
  INTEGER_SCHEMA,
  integers,
  listOf,
  NUMBER_SCHEMA,
  objectOf,
  orNull,
  STRING_SCHEMA,
  strings,
} from '../codecs/schemas.ts'
import { type MethodTable, method } from '../router/method.ts'
import { type Codec, codec } from '../router/method-description.ts'

const PEER_URL_SCHEMA = { type: 'string', pattern: '^tandem://[0-9a-f]{64}@.+:[0-9]{1,5}$' } as const

/** URL of a peer: tandem://<node id>@<host>:<port>. */
const peerUrlParam: Codec<NodeAddress> = codec('url', PEER_URL_SCHEMA, value => {
  const text = parseString(value)
  try {
    return parsePeerUrl(text)
  } catch (error) {
    if (!isCoded(error) || !('reason' in error.detail)) throw error
    return invalidValue(`not the address of a node: ${error.detail.reason}`)
  }
})

const ID_SCHEMA = { type: 'string', pattern: '^[0-9a-f]{64}$' }

const PEER_SCHEMA = objectOf('Peer', {
  id: ID_SCHEMA,
  name: STRING_SCHEMA,
  url: orNull(PEER_URL_SCHEMA),
  validator: orNull(ADDRESS_SCHEMA),
  head: objectOf('PeerHead', { number: QUANTITY_SCHEMA, hash: HASH_SCHEMA }),
  earliest: QUANTITY_SCHEMA,
  score: NUMBER_SCHEMA,
  rttMs: orNull(NUMBER_SCHEMA),
  ...integers('connectedAt', 'receivedBytes', 'sentBytes'),
  network: objectOf('PeerNetwork', {
    ...strings('localAddress', 'remoteAddress'),
    ...booleans('inbound', 'static', 'reserved'),
  }),
})

const rounded = (value: number): number => Math.round(value * 100) / 100

const peerJson = (peer: PeerDescription) => ({
  id: peer.id,
  name: peer.client,
  url: peer.url,
  validator: peer.validator,
  head: { number: toQuantity(peer.head.number), hash: peer.head.hash },
  earliest: toQuantity(peer.earliest),
  score: rounded(peer.score),
  rttMs: peer.rttMs === null ? null : rounded(peer.rttMs),
  connectedAt: Math.floor(peer.connectedAtMs / 1_000),
  receivedBytes: peer.receivedBytes,
  sentBytes: peer.sentBytes,
  network: {
    localAddress: peer.localAddress,
    remoteAddress: peer.remoteAddress,
    inbound: peer.inbound,
    static: peer.isStatic,
    reserved: peer.place === 'reserved',
  },
})

/** Peers of the node; served on the operator port only, by nodes that pass the network (Services.peers). */
export const admin = {
  admin_nodeInfo: method({
    summary: 'Identity and addresses of this node on the network',
    result: objectOf('NodeSelf', {
      id: ID_SCHEMA,
      name: STRING_SCHEMA,
      url: orNull(PEER_URL_SCHEMA),
      listening: orNull(objectOf('Listening', { host: STRING_SCHEMA, port: INTEGER_SCHEMA })),
      validator: orNull(ADDRESS_SCHEMA),
      protocolVersion: INTEGER_SCHEMA,
    }),
    requires: 'peers',
    handler: ({ peers }) => {
      const { id, client, url, listening, validator, protocolVersion } = peers.self()
      return { id, name: client, url, listening, validator, protocolVersion }
    },
  }),
  admin_peers: method({
    summary: 'The connected nodes; `connectedAt` is in seconds since 1970, `score` from 0 down to -100',
    result: listOf(PEER_SCHEMA),
    requires: 'peers',
    handler: ({ peers }) => peers.peers().map(peerJson),
  }),
  admin_addPeer: method({
    summary: 'Adds a static peer: redialed as long as this node runs, in a reserved slot, with its score cleared',
    params: [peerUrlParam],
    result: BOOLEAN_SCHEMA,
    requires: 'peers',
    handler: ({ peers }, address) => {
      peers.addPeer(address)
      return true
    },
  }),
  admin_removePeer: method({
    summary: 'Disconnects a node and dials it no more; false when it was neither connected nor known',
    params: [peerUrlParam],
    result: BOOLEAN_SCHEMA,
    requires: 'peers',
    handler: ({ peers }, { id }) => peers.removePeer(id),
  }),
} satisfies MethodTable
