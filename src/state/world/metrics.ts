import type { Metrics } from '../../metrics/registry.ts'
import type { WorldState } from './world-state.ts'

/** Declares metrics of state reads by cache and outcome, and of the oldest readable state. */
export const declareStateMetrics = (metrics: Metrics, world: WorldState): void => {
  const reads = metrics.counter({
    name: 'state_reads_total',
    help: 'Reads of the head state, by table and whether the cache answered',
    labels: ['table', 'cache'],
  })
  const seen = { ...world.counters }
  metrics.onScrape(() => {
    const now = world.counters
    reads.inc({ table: 'account', cache: 'hit' }, now.accountHits - seen.accountHits)
    reads.inc({ table: 'account', cache: 'miss' }, now.accountMisses - seen.accountMisses)
    reads.inc({ table: 'slot', cache: 'hit' }, now.slotHits - seen.slotHits)
    reads.inc({ table: 'slot', cache: 'miss' }, now.slotMisses - seen.slotMisses)
    Object.assign(seen, now)
  })
  metrics.readGauge('state_history_blocks', 'Blocks before the head whose state can be read', () =>
    Math.max(0, world.number - world.oldest),
  )
}
