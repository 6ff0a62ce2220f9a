import type { Metrics } from '../../metrics/registry.ts'

export type NetworkSizes = Readonly<Record<'inbound' | 'outbound' | 'validators' | 'pending' | 'known', number>>

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
  return {
    messages: metrics.counter({
      name: 'network_messages_total',
      help: 'Messages by kind; skipped ones were beyond a quota, late, of no use, or of no member',
      labels: ['event', 'message'],
    }),
    drops: metrics.counter({
      name: 'network_dropped_messages_total',
      help: 'Messages dropped because a peer reads too slowly',
      labels: ['channel'],
    }),
    bytes: metrics.counter({ name: 'network_bytes_total', help: 'On the wire', labels: ['direction'] }),
    connections: metrics.counter({
      name: 'network_connections_total',
      help: 'Handshakes and how they ended',
      labels: ['direction', 'result'],
    }),
    offences: metrics.counter({ name: 'network_penalties_total', help: 'Offences of peers', labels: ['offence'] }),
    bans: metrics.counter({ name: 'network_bans_total', help: 'Peers banned' }),
    roundTrips: metrics.histogram({ name: 'network_ping_seconds', help: 'Ping to pong' }),
    requests: metrics.counter({
      name: 'network_requests_total',
      help: 'Requests to peers and how they ended',
      labels: ['request', 'result'],
    }),
  }
}
