import type { Metrics } from '../../metrics/registry.ts'
import type { Offence } from './peer-scores.ts'

export interface NetworkSizes {
  readonly inbound: number
  readonly outbound: number
  readonly validators: number
  readonly pending: number
  readonly known: number
}

/** Metrics of the network. */
export type NetworkMetrics = ReturnType<typeof createNetworkMetrics>

/** Declares the metrics of the network; sizes are read at each scrape. */
export const createNetworkMetrics = (metrics: Metrics, sizes: () => NetworkSizes) => {
  metrics.readGauge('network_inbound_peers', 'Peers that connected to this node', () => sizes().inbound)
  metrics.readGauge('network_outbound_peers', 'Peers this node connected to', () => sizes().outbound)
  metrics.readGauge(
    'network_connected_validators',
    'Peers that proved to be committee members',
    () => sizes().validators,
  )
  metrics.readGauge('network_pending_connections', 'Connections during their handshake', () => sizes().pending)
  metrics.readGauge('network_known_peers', 'Nodes whose record is kept', () => sizes().known)
  const messages = metrics.counter({
    name: 'network_messages_total',
    help: 'Messages by kind; skipped ones were beyond a quota, late, of no use, or of no member',
    labels: ['event', 'message'],
  })
  const drops = metrics.counter({
    name: 'network_dropped_messages_total',
    help: 'Messages dropped because a peer reads too slowly',
    labels: ['channel'],
  })
  const bytes = metrics.counter({
    name: 'network_bytes_total',
    help: 'On the wire',
    labels: ['direction'],
  })
  const connections = metrics.counter({
    name: 'network_connections_total',
    help: 'Handshakes and how they ended',
    labels: ['direction', 'result'],
  })
  const offences = metrics.counter({
    name: 'network_penalties_total',
    help: 'Offences of peers',
    labels: ['offence'],
  })
  const bans = metrics.counter({ name: 'network_bans_total', help: 'Peers banned' })
  const roundTrips = metrics.histogram({ name: 'network_ping_seconds', help: 'Ping to pong' })
  const requests = metrics.counter({
    name: 'network_requests_total',
    help: 'Requests to peers and how they ended',
    labels: ['request', 'result'],
  })
  return {
    message: (event: 'received' | 'sent' | 'skipped', message: string) => messages.inc({ event, message }),
    dropped: (channel: string) => drops.inc({ channel }),
    bytes: (direction: 'received' | 'sent', count: number) => bytes.inc({ direction }, count),
    connection: (direction: 'inbound' | 'outbound', result: string) => connections.inc({ direction, result }),
    offence: (offence: Offence) => offences.inc({ offence }),
    banned: () => bans.inc(),
    roundTrip: (seconds: number) => roundTrips.observe(seconds),
    request: (request: string, result: string) => requests.inc({ request, result }),
  }
}
