import { asBuffer } from '@tandem/base/bytes.ts'
import type { FrameType, TracedTransaction, Tracer } from '../tracer.ts'
import { createCallTracer } from './call-tracer.ts'
import type { MuxConfig, TracerConfig } from './config.ts'
import { createConsoleTracer } from './console-tracer.ts'
import { createFlatCallTracer } from './flat-call-tracer.ts'
import { createPrestateTracer } from './prestate.ts'
import { createStructLogger } from './struct-log.ts'
import type { TracerContext } from './tracer-context.ts'

const CALLS: ReadonlySet<FrameType> = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'])
const ENTRY_BYTES = 100

/** 4byteTracer of geth: selectors with the size of their arguments, and the number of calls. Calls to precompiles are not counted. */
const createFourByteTracer = ({ memory }: TracerContext): Tracer => {
  const counts = new Map<string, number>()
  let traced: TracedTransaction | undefined
  return {
    begin(transaction) {
      traced = transaction
    },
    enter({ type, to, input }) {
      if (input.byteLength < 4 || !CALLS.has(type) || traced?.precompiles.has(to)) return
      const key = `0x${asBuffer(input).hexSlice(0, 4)}-${input.byteLength - 4}`
      const count = counts.get(key)
      if (count === undefined) memory.add(ENTRY_BYTES)
      counts.set(key, (count ?? 0) + 1)
    },
    *result() {
      yield JSON.stringify(Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))))
    },
  }
}

/** Runs several tracers at once; the result has theirs by name. */
const createMuxTracer = ({ tracers }: MuxConfig, parts: TracerContext): Tracer => {
  const all = tracers.map(config => ({ name: config.name, tracer: createTracer(config, parts) }))
  return {
    begin: (transaction, state) => all.forEach(({ tracer }) => void tracer.begin?.(transaction, state)),
    enter: frame => all.forEach(({ tracer }) => void tracer.enter?.(frame)),
    watches: (['all', 'named'] as const).find(kind => all.some(({ tracer }) => tracer.watches === kind)) ?? 'none',
    before: step => all.forEach(({ tracer }) => void tracer.before?.(step)),
    step: step => all.forEach(({ tracer }) => void tracer.step?.(step)),
    log: log => all.forEach(({ tracer }) => void tracer.log?.(log)),
    exit: frame => all.forEach(({ tracer }) => void tracer.exit?.(frame)),
    end: end => all.forEach(({ tracer }) => void tracer.end?.(end)),
    *result() {
      let separator = '{'
      for (const { name, tracer } of all) {
        yield `${separator}"${name}":`
        yield* tracer.result()
        separator = ','
      }
      yield all.length === 0 ? '{}' : '}'
    },
  }
}

type Create<Config> = (config: Config, parts: TracerContext) => Tracer

const TRACERS: { readonly [Name in TracerConfig['name']]: Create<Extract<TracerConfig, { readonly name: Name }>> } = {
  structLogger: createStructLogger,
  callTracer: createCallTracer,
  flatCallTracer: createFlatCallTracer,
  prestateTracer: createPrestateTracer,
  '4byteTracer': (_, parts) => createFourByteTracer(parts),
  consoleTracer: (_, parts) => createConsoleTracer(parts),
  noopTracer: () => ({ result: () => ['{}'] }),
  muxTracer: createMuxTracer,
}

/** Creates a tracer; one per transaction. */
export const createTracer: Create<TracerConfig> = (config, parts) =>
  (TRACERS[config.name] as Create<TracerConfig>)(config, parts)
