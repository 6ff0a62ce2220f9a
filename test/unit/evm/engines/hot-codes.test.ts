import { expect, onTestFinished, test } from 'vitest'
import type { EvmFork } from '../../../../src/config/forks.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { Engine, EngineOptions } from '../../../../src/evm/engine.ts'
import { compilerCounts } from '../../../../src/evm/engines/engine-counts.ts'
import { createInterpreter } from '../../../../src/evm/engines/interpreter/engine.ts'
import {
  type CodeCompiler,
  type CodeRequest,
  createImmediateCompiler,
} from '../../../../src/evm/engines/wasm/compiler/code-compiler.ts'
import { createHotCompiler } from '../../../../src/evm/engines/wasm/compiler/hot-compiler.ts'
import { CODE_PAGES } from '../../../../src/evm/engines/wasm/evm-module.ts'
import { acquireMachine, releaseMachine } from '../../../../src/evm/engines/wasm/pool.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { declareEvmMetrics } from '../../../../src/evm/metrics.ts'
import { Metrics } from '../../../../src/metrics/registry.ts'
import { type Hex, hexToBytes, toWord } from '../../../../src/util/bytes.ts'
import { outcomeOf } from '../../../support/evm/compare.ts'
import { MemoryState, memoryAccount } from '../../state/memory-state.ts'
import { env, paramsAt } from '../world.ts'

const FROM: Hex = `0x${'5e'.repeat(20)}`
const TO: Hex = `0x${'c0'.repeat(20)}`
const ADDRESSES = { words: 0, scratch: 0 }

const interpreted = createWasmEngine(createInterpreter)

/** Loop over a slot, as often as the call data says; codes of other marks have another hash. */
const loopCode = (mark: number): Uint8Array =>
  hexToBytes(`0x6000355b60${mark.toString(16).padStart(2, '0')}5450600190038060035760005260206000f3`)

const run = async (
  engine: Engine,
  code: Uint8Array,
  times: bigint,
  fork: EvmFork = 'osaka',
  options?: EngineOptions,
) => {
  const state = new MemoryState()
  const codeHash = keccak256Hex(code)
  state.codes.set(codeHash, code)
  state.accounts.set(TO, memoryAccount({ nonce: 1, codeHash }))
  state.accounts.set(FROM, memoryAccount({ nonce: 1, balance: 10n ** 18n }))
  const data = hexToBytes(toWord(times))
  const message = { from: FROM, to: TO, value: 0n, data, gas: 30_000_000n, gasPrice: 0n, accessList: [] }
  return (await outcomeOf(engine, state, env({ params: paramsAt(fork) }), message, options)).text
}

const hotCompiler = (limits: Parameters<typeof createHotCompiler>[0]) => {
  const compiler = createHotCompiler({ hotGas: 100_000n, ...limits })
  onTestFinished(() => compiler.close())
  return compiler
}
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 5))
}
const requestOf = (bytes: Uint8Array, fork: EvmFork = 'osaka'): CodeRequest => ({
  hash: keccak256Hex(bytes),
  fork,
  bytes,
  addresses: ADDRESSES,
})

test('hot code is compiled in a worker, and the oldest compiled code makes room for the newest', async () => {
  const compiler = hotCompiler({ modules: 2 })
  const engine = createWasmEngine(createInterpreter, compiler)
  const compiledCodes = (): number => {
    const machine = acquireMachine(CODE_PAGES, compiler)
    const count = machine?.codes.compiledCount ?? 0
    if (machine !== undefined) releaseMachine(machine)
    return count
  }
  const compare = async (mark: number) =>
    expect(await run(engine, loopCode(mark), 2_000n)).toBe(await run(interpreted, loopCode(mark), 2_000n))
  for (let mark = 1; mark <= 3; mark++) {
    expect(compiler.size.modules).toBe(Math.min(mark - 1, 2))
    await compare(mark)
    await until(() => compiler.compilations === mark)
    expect(compiledCodes()).toBe(Math.min(mark, 2))
    const { entries } = compilerCounts
    await compare(mark)
    expect(compilerCounts.entries).toBeGreaterThan(entries)
  }
  expect(compiler.size.modules).toBe(2)
  expect(compiler.size.bytes).toBeGreaterThan(0)
})

/** A compiler that keeps the requests, for the test to answer. */
const collecting = (timesHot: number) => {
  const requests: { readonly request: CodeRequest; readonly compile: () => void }[] = []
  const immediate = createImmediateCompiler()
  const compiler: CodeCompiler = {
    ...immediate,
    hotFrom: 100_000n,
    timesHot: () => timesHot,
    request: (request, done) => requests.push({ request, compile: () => immediate.request(request, done) }),
  }
  return { requests, engine: createWasmEngine(createInterpreter, compiler) }
}

test('a large code must become hot once for each kilobyte', async () => {
  const compiler = hotCompiler({})
  expect([1, 1_024, 1_025, 24_576].map(size => compiler.timesHot(size))).toEqual([1, 1, 2, 24])
  const { requests, engine } = collecting(3)
  for (let count = 1; count <= 6; count++) {
    await run(engine, loopCode(1), 1_000n)
    expect(requests.length).toBe(Math.floor(count / 3))
  }
})

test('a message that is under way goes on compiled', async () => {
  const { requests, engine } = collecting(1)
  const interrupt = {
    sliceMs: 0,
    giveWay: async () => {
      for (const { compile } of requests.splice(0)) compile()
    },
    shouldStop: () => false,
  }
  const { entries } = compilerCounts
  const got = await run(engine, loopCode(1), 20_000n, 'osaka', { interrupt })
  expect(got).toBe(await run(interpreted, loopCode(1), 20_000n))
  expect(compilerCounts.entries).toBeGreaterThan(entries)
})

test('a code compiled for one fork is not run in another', async () => {
  const compiler = hotCompiler({})
  const engine = createWasmEngine(createInterpreter, compiler)
  const forks: readonly EvmFork[] = ['osaka', 'istanbul', 'frontier', 'osaka']
  for (const [i, fork] of forks.entries()) {
    const expected = await run(interpreted, loopCode(1), 2_000n, fork)
    expect(await run(engine, loopCode(1), 2_000n, fork)).toBe(expected)
    await until(() => compiler.compilations === Math.min(i + 1, 3))
    expect(await run(engine, loopCode(1), 2_000n, fork)).toBe(expected)
  }
})

test('no more is compiled than the budget allows', async () => {
  const compiler = hotCompiler({ burstBytes: 1, bytesPerSecond: 0 })
  const { dropped } = compilerCounts
  await new Promise<unknown>(done => compiler.request(requestOf(loopCode(1)), done))
  compiler.request(requestOf(loopCode(2)), () => expect.unreachable())
  expect(compilerCounts.dropped).toBe(dropped + 1)
  // What is compiled is there.
  await new Promise<unknown>(done => compiler.request(requestOf(loopCode(1)), done))
  expect(compiler.compilations).toBe(1)
})

test('a code of which nothing would run is refused once', async () => {
  const compiler = hotCompiler({})
  const { refused } = compilerCounts
  const calls = Uint8Array.of(0xf1, 0xf1)
  for (let count = 0; count < 3; count++) {
    compiler.request(requestOf(calls), () => expect.unreachable())
    await until(() => compiler.compilations === 1)
  }
  expect(compilerCounts.refused).toBe(refused + 1)
})

test('metrics show compiled codes', async () => {
  const metrics = new Metrics()
  declareEvmMetrics(metrics, 'compiler')
  // A thread keeps the codes of all its compilers, those of other tests among them.
  const { codes } = compilerCounts
  const compiler = hotCompiler({ modules: 1 })
  for (const mark of [1, 2]) await new Promise<unknown>(done => compiler.request(requestOf(loopCode(mark)), done))
  const text = await metrics.render()
  expect(text).toMatch(/^evm_engine_info\{engine="compiler"\} 1$/m)
  expect(text).toMatch(/^evm_compilations_total\{outcome="compiled"\} 2$/m)
  expect(text).toMatch(/^evm_compiled_evictions_total 1$/m)
  expect(text.split('\n')).toContain(`evm_compiled_codes_count ${codes + 1}`)
  expect(text).toMatch(/^evm_compiled_codes_bytes [1-9]/m)
  expect(text).toMatch(/^evm_compile_seconds_total (?!0$)/m)
})
