import { expect, test } from 'vitest'
import { Metrics } from '../../../src/metrics/registry.ts'
import { declareStateMetrics } from '../../../src/state/world/metrics.ts'
import { declareStorageMetrics } from '../../../src/storage/metrics.ts'
import { address } from './memory-state.ts'
import { temporaryWorld } from './world.ts'

test('metrics follow the counters from scrape to scrape', async () => {
  const { world, store } = await temporaryWorld()
  const metrics = new Metrics()
  declareStateMetrics(metrics, world)
  declareStorageMetrics(metrics, store)
  world.head.account(address(1))
  world.head.account(address(1))
  world.head.account(address(1))
  await metrics.render()
  const text = await metrics.render()
  expect(text).toContain('state_reads_total{table="account",cache="hit"} 2')
  expect(text).toContain('state_reads_total{table="account",cache="miss"} 1')
  expect(text).toContain(`storage_row_reads_total ${store.counters.reads}`)
  expect(text).toContain('state_history_blocks 0')
})
