import type { Metrics } from '../../metrics/registry.ts'
import { engineCounts } from '../engine.ts'
import type { EngineName } from './select-engine.ts'

/** Declares metrics of the EVM engine: its name, and its messages on the main thread by engine. */
export const declareEvmMetrics = (metrics: Metrics, engine: EngineName): void => {
  const info = metrics.gauge({ name: 'evm_engine_info', help: 'Engine that runs code; always 1', labels: ['engine'] })
  info.set({ engine }, 1)
  const messages = metrics.counter({
    name: 'evm_messages_total',
    help: 'Messages with code that the main thread ran in WebAssembly, and those of more than 100 M gas handed to EthereumJS',
    labels: ['engine'],
  })
  const seen = { ...engineCounts }
  metrics.onScrape(() => {
    messages.inc({ engine: 'wasm' }, engineCounts.wasm - seen.wasm)
    messages.inc({ engine: 'ethereumjs' }, engineCounts.elsewhere - seen.elsewhere)
    Object.assign(seen, engineCounts)
  })
}
