import type { Metrics } from '../metrics/registry.ts'
import { compilerCounts, engineCounts } from './engines/engine-counts.ts'
import { DEFAULT_ENGINE, type EngineName } from './engines/select-engine.ts'

/** Declares metrics of the EVM engine: its name, and its messages on the main thread by engine. */
export const declareEvmMetrics = (metrics: Metrics, engine: EngineName = DEFAULT_ENGINE): void => {
  const info = metrics.gauge({ name: 'evm_engine_info', help: 'Engine that runs code; always 1', labels: ['engine'] })
  info.set({ engine }, 1)
  const messages = metrics.counter({
    name: 'evm_messages_total',
    help: 'Messages with code that the main thread ran in WebAssembly, and those handed to the interpreter in TypeScript',
    labels: ['engine'],
  })
  const seen = { ...engineCounts }
  metrics.onScrape(() => {
    messages.inc({ engine: 'wasm' }, engineCounts.wasm - seen.wasm)
    messages.inc({ engine: 'interpreter' }, engineCounts.elsewhere - seen.elsewhere)
    Object.assign(seen, engineCounts)
  })
  if (engine === 'compiler') declareCompilerMetrics(metrics)
}

/** Declares metrics of the main thread's compiled codes. */
const declareCompilerMetrics = (metrics: Metrics): void => {
  metrics.gauge({
    name: 'evm_compiled_codes_count',
    help: 'Codes that the main thread has compiled to WebAssembly, and keeps',
    read: () => compilerCounts.codes,
  })
  metrics.gauge({
    name: 'evm_compiled_codes_bytes',
    help: 'Their size in WebAssembly',
    read: () => compilerCounts.bytes,
  })
  const compilations = metrics.counter({
    name: 'evm_compilations_total',
    help: 'Hot codes by outcome: compiled; refused, since they cannot be; dropped for now, since there is too much to compile',
    labels: ['outcome'],
  })
  const counters = {
    evicted: metrics.counter({
      name: 'evm_compiled_evictions_total',
      help: 'Compiled codes that made room for newer ones',
    }),
    entries: metrics.counter({
      name: 'evm_compiled_entries_total',
      help: 'Entries of a frame into compiled code, at its start or after a call',
    }),
    seconds: metrics.counter({
      name: 'evm_compile_seconds_total',
      help: 'Time of the thread that compiles',
    }),
  }
  const seen = { ...compilerCounts }
  metrics.onScrape(() => {
    const since = (name: keyof typeof compilerCounts): number => compilerCounts[name] - seen[name]
    for (const outcome of ['compiled', 'refused', 'dropped'] as const) compilations.inc({ outcome }, since(outcome))
    counters.evicted.inc(since('evicted'))
    counters.entries.inc(since('entries'))
    counters.seconds.inc(since('compileMs') / 1_000)
    Object.assign(seen, compilerCounts)
  })
}
