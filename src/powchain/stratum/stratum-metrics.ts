import type { Metrics } from '../../metrics/registry.ts'
import type { WorkerRates } from '../mining/mining-service.ts'

export type StratumMetrics = ReturnType<typeof createStratumMetrics>

/** Counters of a Stratum server. */
export const createStratumMetrics = (metrics: Metrics) => ({
  shares: metrics.counter({
    name: 'stratum_shares_total',
    help: 'Shares of miners by outcome',
    labels: ['outcome'],
  }),
  solutions: metrics.counter({ name: 'stratum_solutions_total', help: 'Shares that became proof headers' }),
  refused: metrics.counter({
    name: 'stratum_refused_connections_total',
    help: 'Connections refused, by reason',
    labels: ['reason'],
  }),
  bans: metrics.counter({ name: 'stratum_bans_total', help: 'Miners disconnected for their faults' }),
})

/** Declares the gauges of a server. */
export const addStratumGauges = (
  metrics: Metrics,
  server: WorkerRates & { readonly connections: number; readonly argon2Count: number; banned(): number },
): void => {
  metrics.readGauge('stratum_open_connections', 'Connected miners', () => server.connections)
  metrics.readGauge('stratum_active_workers_count', 'Workers with an accepted share in the last ten minutes', () =>
    server.active(),
  )
  metrics.readGauge('stratum_hash_rate_hashes', 'Hashes per second that the shares of the last ten minutes show', () =>
    server.hashrate(),
  )
  metrics.readGauge(
    'stratum_argon2_hashes',
    'Argon2id hashes computed for shares since the start',
    () => server.argon2Count,
  )
  metrics.readGauge('stratum_banned_addresses_count', 'Banned addresses', () => server.banned())
}
