import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { createTracer } from '../../../../src/evm/tracers/create-tracer.ts'
import { JsonSink } from '../../../../src/evm/tracers/json-sink.ts'
import { createMemoryCounter } from '../../../../src/evm/tracers/tracer-context.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { STRUCT_LOGS } from '../../../support/trace.ts'
import { asm, loop, program } from '../../../worst-case/assembler.ts'
import { engineOf } from '../engines/engines.ts'
import { env, funded, key, paramsAt, withCode } from '../world.ts'

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`

test('a trace can pause between any few steps: one may show megabytes', async () => {
  const state = withCode(funded([sender]), TARGET, program(loop(asm('0 POP'), 1_000n)))
  let pauses = 0
  const interrupt = {
    sliceMs: 0,
    shouldStop: () => false,
    giveWay: async () => {
      pauses++
    },
  }
  const output = new JsonSink({ emit: () => {}, chunkChars: 1_000, limitBytes: 1e9, credits: Number.POSITIVE_INFINITY })
  const tracer = createTracer(STRUCT_LOGS, { output, memory: createMemoryCounter(1_000) })
  let steps = 0
  const counting = {
    ...tracer,
    step: (...args: Parameters<NonNullable<typeof tracer.step>>) => {
      steps++
      tracer.step?.(...args)
    },
  }
  tracer.begin?.(
    {
      ...{ from: sender.address, to: TARGET, isCreation: false, gasLimit: 20_000n, coinbase: TARGET, authorities: [] },
      ...{ precompiles: new Set(), blockNumber: 1, blockHash: null, hash: null, index: 0, logsBefore: 0 },
    },
    new Journal(state),
  )
  const engine = await engineOf('wasm')
  const message = { from: sender.address, to: TARGET, value: 0n, data: EMPTY_BYTES, gas: 20_000n, gasPrice: 1n }
  const { failure } = await engine.run(
    new Journal(state),
    env({ params: paramsAt('osaka') }),
    { ...message, accessList: [] },
    { interrupt, trace: { tracer: counting, backpressure: output } },
  )
  expect(failure).toBeNull()
  expect(steps).toBeGreaterThan(1_000)
  expect(pauses).toBeGreaterThan(steps / 4)
})
