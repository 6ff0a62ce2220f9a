import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { TracerConfig } from '../../../../src/evm/tracers/config.ts'
import { createTracer } from '../../../../src/evm/tracers/create-tracer.ts'
import { JsonSink } from '../../../../src/evm/tracers/json-sink.ts'
import { createMemoryCounter } from '../../../../src/evm/tracers/tracer-context.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { STRUCT_LOGS } from '../../../support/trace.ts'
import { MemoryState } from '../../state/memory-state.ts'

const ADDRESS: Hex = `0x${'aa'.repeat(20)}`

const CONFIGS: readonly TracerConfig[] = [
  STRUCT_LOGS,
  { name: 'callTracer', onlyTopCall: false, withLog: true },
  { name: 'flatCallTracer', convertParityErrors: false, includePrecompiles: true },
]

test.each(CONFIGS)('$name keeps what it shows of the memory of the engine, which changes', config => {
  const chunks: string[] = []
  const emit = (chunk: Uint8Array) => chunks.push(Buffer.from(chunk).toString())
  const output = new JsonSink({ emit, chunkChars: 1_000_000, limitBytes: 1_000_000, credits: 10 })
  const tracer = createTracer(config, { output, memory: createMemoryCounter(1_000_000) })
  // A Buffer, whose `slice` copies nothing.
  const memory = Buffer.from('c0ffee', 'hex')
  tracer.begin?.(
    {
      ...{ from: ADDRESS, to: ADDRESS, isCreation: false, gasLimit: 9n, coinbase: ZERO_ADDRESS, authorities: [] },
      ...{ precompiles: new Set(), blockNumber: 1, blockHash: null, hash: null, index: 0, logsBefore: 0 },
    },
    new Journal(new MemoryState()),
  )
  tracer.enter?.({ depth: 0, type: 'CALL', from: ADDRESS, to: ADDRESS, input: memory, gas: 9n, value: 0n })
  tracer.log?.({ address: ADDRESS, topics: [], data: memory })
  tracer.exit?.({ depth: 0, output: memory, gasUsed: 1n, error: undefined })
  const shown = memory.toString('hex')
  memory.fill(0)
  tracer.end?.({ gasUsed: 1n })
  for (const piece of tracer.result()) output.write(piece)
  output.flush()
  expect(chunks.join('')).toContain(shown)
  expect(chunks.join('')).not.toContain('000000"')
})
