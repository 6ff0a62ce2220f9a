import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import { ethereumParams } from '../../devtools/state-test/fork.ts'
import type { EvmFork } from '../../src/config/forks.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineResult } from '../../src/evm/engine.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import type { Journal } from '../../src/state/journal/journal.ts'
import { loadRealContracts } from '../property/evm/real-contracts.ts'
import { findAnvil } from '../support/foundry.ts'
import { SEED } from '../support/seed.ts'
import { createStepOracle } from '../support/step-oracle.ts'
import { env } from '../unit/evm/world.ts'
import { type Anvil, startAnvil } from './revm/anvil.ts'
import type { RevmWorld } from './revm/requests.ts'
import { revmWorld } from './revm/world.ts'

/*
 * Random worlds and messages, run as transactions by our engine and by revm in the pinned anvil, which shares nothing with this node or with
 * EthereumJS: status, gas used, output, logs, and every account and slot afterwards must be equal. CASES= for the long form, SEED= for
 * others; the seed of a world that differs is printed.
 */
const CASES = Number(process.env['CASES'] ?? 40_000)

/** Parts of the messages at each fork. Of older forks anvil has the opcodes, but not the prices. */
const PARTS: Readonly<Partial<Record<EvmFork, number>>> = {
  osaka: 0.6,
  prague: 0.15,
  cancun: 0.15,
  shanghai: 0.05,
  paris: 0.05,
}

const SIZES = { messages: 24, creations: 5 }
/** Worlds of one request: anvil takes 2 MB. */
const BATCH = 16
const NUMBER = 1_000
const REAL = loadRealContracts({ compiled: process.env['CASES'] !== undefined })

const envOf = (fork: EvmFork, anvil: Anvil): BlockEnv =>
  env({
    params: ethereumParams(fork),
    number: NUMBER,
    baseFeePerGas: 0n,
    blobs: { baseFeePerGas: 1n, maxPerBlock: 6 },
    blockHash: number => anvil.blockHash(number),
  })

interface Counts {
  messages: number
  succeeded: number
}

/** Compares worlds until so many messages ran; returns the first difference. The next worlds are made while anvil runs the last ones. */
const compare = async (
  engine: Engine,
  anvil: Anvil,
  { fork, cases, seed }: { readonly fork: EvmFork; readonly cases: number; readonly seed: number },
  counts: Counts = { messages: 0, succeeded: 0 },
): Promise<string | undefined> => {
  const block = envOf(fork, anvil)
  const end = counts.messages + cases
  let waiting: Promise<string | undefined> = Promise.resolve(undefined)
  for (let next = seed; counts.messages < end; ) {
    const worlds: RevmWorld[] = []
    for (const last = next + BATCH; next < last; next++)
      worlds.push(await revmWorld(engine, { seed: next, fork, env: block, ...SIZES, contracts: REAL }))
    const found = await waiting
    if (found !== undefined) return found
    waiting = differenceOf(worlds, anvil)
    // A difference is returned with its batch; nothing is left unhandled when making the next one fails.
    waiting.catch(() => {})
    for (const { messages, succeeded } of worlds) {
      counts.messages += messages
      counts.succeeded += succeeded
    }
  }
  return waiting
}

const differenceOf = async (worlds: readonly RevmWorld[], anvil: Anvil): Promise<string | undefined> => {
  const responses = await anvil.batch(worlds.flatMap(({ requests }) => requests))
  let at = 0
  for (const { requests, difference } of worlds) {
    const found = difference(responses.slice(at, at + requests.length))
    if (found !== undefined) return found
    at += requests.length
  }
  return undefined
}

const anvilBinary = findAnvil()

// Listed with its reason: a developer on such a platform knows what was not run.
if ('missing' in anvilBinary) test.skip(`random programs against revm, not run: ${anvilBinary.missing}`)

describe.runIf('found' in anvilBinary)('revm', () => {
  const binary = 'found' in anvilBinary ? anvilBinary.found.anvil : ''
  const withAnvil = async (fork: EvmFork, use: (anvil: Anvil) => Promise<void>): Promise<void> => {
    const anvil = await startAnvil(binary, fork, NUMBER)
    try {
      await use(anvil)
    } finally {
      await anvil.stop()
    }
  }

  test.each(Object.entries(PARTS) as [EvmFork, number][])(
    `random messages at %s come to the same (CASES=${CASES} SEED=${SEED})`,
    (fork, part) =>
      withAnvil(fork, async anvil => {
        let elsewhere = 0
        const interpreter = createInterpreter()
        const engine = createWasmEngine(() => {
          elsewhere++
          return interpreter
        })
        const counts = { messages: 0, succeeded: 0 }
        expect(await compare(engine, anvil, { fork, cases: CASES * part, seed: SEED }, counts)).toBeUndefined()
        console.log(`${fork}: ${counts.messages} messages, ${counts.succeeded} succeeded, ${elsewhere} run elsewhere`)
        expect(counts.succeeded).toBeGreaterThan(counts.messages / 5)
        expect(elsewhere).toBe(0)
      }),
    24 * 3_600_000,
  )

  const interpreter = createInterpreter()
  const wasm = createWasmEngine(() => interpreter)
  const SLOT = toWord(3n)
  const spoilt = (spoil: (result: EngineResult, journal: Journal, to: Hex | null) => EngineResult): Engine => ({
    name: 'spoilt',
    run: async (journal, block, message, options) =>
      spoil(await wasm.run(journal, block, message, options), journal, message.to),
  })
  const faults: Readonly<Record<string, Engine>> = {
    'EthereumJS as it comes': createStepOracle({ records: false, asItComes: true }),
    'a unit of gas': spoilt(result => ({ ...result, gasUsed: result.gasUsed + 1n })),
    'a byte of output': spoilt(result => ({ ...result, output: Uint8Array.of(...result.output, 1) })),
    'a status': spoilt(result => ({ ...result, failure: result.failure === null ? { kind: 'revert' } : null })),
    'a log': spoilt(result => ({ ...result, logs: result.logs.slice(1) })),
    'a slot': spoilt((result, journal, to) => {
      if (to !== null) journal.setStorage(to, SLOT, toWord(0xabcdn))
      return result
    }),
    'a balance': spoilt((result, journal, to) => {
      if (to !== null) journal.addBalance(to, 1n)
      return result
    }),
    'a nonce': spoilt((result, journal, to) => {
      if (to !== null) journal.setNonce(to, 77)
      return result
    }),
  }

  test('every kind of difference is found', () =>
    withAnvil('osaka', async anvil => {
      for (const [fault, engine] of Object.entries(faults)) {
        const found = await compare(engine, anvil, { fork: 'osaka', cases: 1_500, seed: SEED })
        expect(found?.split('\n')[0] ?? `not found: ${fault}`).toMatch(/^SEED=/)
      }
    }))
})
