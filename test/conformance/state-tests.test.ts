import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import { runStateTests, type StateTestResult } from '../../devtools/state-test/run.ts'
import type { Engine } from '../../src/evm/engine.ts'
import { createEthereumJsEngine } from '../../src/evm/engines/ethereumjs/engine.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { TrieService } from '../../src/state/trie/trie-service.ts'
import { SEED } from '../support/seed.ts'

/*
 * Public state tests on all engines: every run takes as many as there is time for, `SEED=7` takes others, `STATE_TESTS=all` all that are
 * kept here. All of the suites are run with `tandem statetest`.
 */

interface Line {
  readonly file: string
  readonly name: string
  readonly test: unknown
}

const FORKS = [
  'Frontier',
  'Homestead',
  'EIP150',
  'EIP158',
  'Byzantium',
  'Constantinople',
  'ConstantinopleFix',
  'Istanbul',
  'Berlin',
  'London',
  'Paris',
  'Shanghai',
  'Cancun',
  'Prague',
  'Osaka',
]

/**
 * The tool that filled these two did not touch the coinbase of a refused transaction before EIP-158; all the other suites of that time
 * expect that it does.
 */
const OTHER_CONVENTION = /test_eip2930_tx_validity\[fork_(Frontier|Homestead)-invalid/

const TESTS = brotliDecompressSync(readFileSync(new URL('data/state-tests/tests.jsonl.br', import.meta.url)))
  .toString('utf8')
  .trimEnd()
  .split('\n')

const rank = (text: string): string => createHash('sha256').update(`${SEED}:`).update(text).digest('hex')

/** As many tests, the same for the same seed. */
const sample = (count: number): readonly Line[] =>
  TESTS.map(text => ({ text, rank: rank(text) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ text }) => JSON.parse(text) as Line)

const run = async (mode: ExecutionMode, engine: Engine | undefined, lines: readonly Line[]) => {
  const trie = await TrieService.open({ worker: false })
  const executor = createExecutor({ mode, ...(engine && { engine }), logger: silentLogger })
  const results: (StateTestResult & { readonly file: string })[] = []
  for (const { file, name, test } of lines) {
    for await (const result of runStateTests({ executor, trie }, { [name]: test })) results.push({ ...result, file })
  }
  await trie.close()
  return results
}

/** The step build, stopped at every opcode. */
const createStepEngine = (): Engine => {
  const engine = createWasmEngine(createEthereumJsEngine)
  const trace = {
    tracer: { watches: 'all', before: () => {}, result: () => [] },
    backpressure: { isFull: false, drained: () => Promise.resolve() },
  } as const
  return {
    name: 'wasm',
    run: (journal, env, message, options) => engine.run(journal, env, message, { ...options, trace }),
  }
}

test.each<[string, ExecutionMode, Engine | undefined, number]>([
  ['the engine in WebAssembly', 'wasm', undefined, 5_000],
  ['the step build in WebAssembly', 'wasm', createStepEngine(), 2_000],
  ['the interpreter in TypeScript', 'wasm', createInterpreter(), 1_500],
  ['the EVM of EthereumJS under our rules', 'wasm', createEthereumJsEngine(), 400],
  ['the VM of EthereumJS', 'ethereumjs', undefined, 400],
])('state roots and logs by %s are those of the suites', async (_, mode, engine, few) => {
  const count = process.env['STATE_TESTS'] === 'all' ? TESTS.length : few
  const results = await run(mode, engine, sample(count))
  const failed = results.filter(({ name, pass }) => !pass && !OTHER_CONVENTION.test(name))
  expect(failed, `SEED=${SEED}`).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(count)
  expect(new Set(results.map(({ fork }) => fork))).toEqual(new Set(FORKS))
})
