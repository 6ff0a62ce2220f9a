import type { Metrics } from '../metrics/registry.ts'

export type FaucetMetrics = ReturnType<typeof createFaucetMetrics>

/** Counters of the faucet. */
export const createFaucetMetrics = (metrics: Metrics) => ({
  grants: metrics.counter({ name: 'faucet_grants_total', help: 'Grants reserved' }),
  refusals: metrics.counter({ name: 'faucet_refusals_total', help: 'Requests refused, by reason', labels: ['reason'] }),
})

/** Figures of a running faucet. */
interface FaucetFigures {
  balanceWei(): bigint
  isLow(): boolean
  unsettled(): number
}

/** Declares the gauges of a faucet. */
export const addFaucetGauges = (metrics: Metrics, figures: FaucetFigures): void => {
  metrics.gauge({
    name: 'faucet_balance_wei',
    help: 'Balance of the faucet when it was last read',
    read: () => Number(figures.balanceWei()),
  })
  metrics.gauge({
    name: 'faucet_low_balance_state',
    help: '1: less than two days of the outflow are left',
    read: () => Number(figures.isLow()),
  })
  metrics.gauge({
    name: 'faucet_unsettled_transactions',
    help: 'Grants that no block includes yet',
    read: () => figures.unsettled(),
  })
}
