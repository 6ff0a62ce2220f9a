import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { bytesToHex, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import { ethereumParams } from '../../devtools/state-test/fork.ts'
import type { EvmFork } from '../../src/config/forks.ts'
import { PRECOMPILE_PRICES } from '../../src/config/precompile-prices.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Engine } from '../../src/evm/engine.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { createStepOracle } from '../support/step-oracle.ts'
import { env, funded, key, paramsAt, withCode } from '../unit/evm/world.ts'

/* go-ethereum's vectors of precompiled contracts: output and gas at a fork whose price they have. */

interface Vector {
  readonly Name: string
  readonly Input: string
  readonly Expected?: string
  readonly Gas?: number
}

/** Address and fork of each file. */
const FILES: Readonly<Record<string, readonly [number, EvmFork]>> = {
  ecRecover: [0x01, 'frontier'],
  modexp: [0x05, 'byzantium'],
  modexp_eip2565: [0x05, 'berlin'],
  modexp_eip7883: [0x05, 'osaka'],
  bn256Add: [0x06, 'istanbul'],
  bn256ScalarMul: [0x07, 'istanbul'],
  bn256Pairing: [0x08, 'istanbul'],
  blake2F: [0x09, 'istanbul'],
  'fail-blake2f': [0x09, 'istanbul'],
  pointEvaluation: [0x0a, 'cancun'],
  blsG1Add: [0x0b, 'prague'],
  'fail-blsG1Add': [0x0b, 'prague'],
  blsG1Mul: [0x0c, 'prague'],
  'fail-blsG1Mul': [0x0c, 'prague'],
  blsG1MultiExp: [0x0c, 'prague'],
  'fail-blsG1MultiExp': [0x0c, 'prague'],
  blsG2Add: [0x0d, 'prague'],
  'fail-blsG2Add': [0x0d, 'prague'],
  blsG2Mul: [0x0e, 'prague'],
  'fail-blsG2Mul': [0x0e, 'prague'],
  blsG2MultiExp: [0x0e, 'prague'],
  'fail-blsG2MultiExp': [0x0e, 'prague'],
  blsPairing: [0x0f, 'prague'],
  'fail-blsPairing': [0x0f, 'prague'],
  blsMapG1: [0x10, 'prague'],
  'fail-blsMapG1': [0x10, 'prague'],
  blsMapG2: [0x11, 'prague'],
  'fail-blsMapG2': [0x11, 'prague'],
  p256Verify: [0x100, 'osaka'],
}

const vectors = JSON.parse(
  brotliDecompressSync(readFileSync(new URL('data/precompiles/vectors.json.br', import.meta.url))).toString('utf8'),
) as Readonly<Record<string, readonly Vector[]>>

const interpreter = createInterpreter()
const wasm = createWasmEngine(() => interpreter)
/** Those that the engine in WebAssembly runs by itself, or by another way than the interpreter. */
const QUICK = [0x01, 0x05, 0x06, 0x07]
const caller = key(1)
const GAS = 100_000_000n
const CALLING: Hex = `0x${'ca'.repeat(20)}`

const run = (engine: Engine, block: BlockEnv, number: number, input: string, gas = GAS) =>
  engine.run(new Journal(funded([caller])), block, {
    from: caller.address,
    to: `0x${toWord(BigInt(number)).slice(-40)}` as Hex,
    value: 0n,
    data: hexToBytes(`0x${input}`),
    gas,
    gasPrice: 1n,
    accessList: [],
  })

test('every file has its contract', () => {
  expect(Object.keys(FILES).sort()).toEqual(Object.keys(vectors).sort())
})

describe.each(Object.entries(FILES))('%s', (file, [number, fork]) => {
  const block = env({ params: ethereumParams(fork) })

  test.each(vectors[file]?.map(vector => [vector.Name, vector] as const) ?? [])(
    '%s',
    async (_, { Input, Expected, Gas }) => {
      for (const engine of QUICK.includes(number) ? [interpreter, wasm] : [interpreter]) {
        const { output, gasUsed, failure } = await run(engine, block, number, Input)
        if (Expected === undefined) {
          expect(failure).not.toBeNull()
          expect(gasUsed).toBe(GAS)
        } else {
          expect({ output: bytesToHex(output), failure }).toEqual({
            output: `0x${Expected.toLowerCase()}`,
            failure: null,
          })
          expect(gasUsed).toBe(BigInt(Gas ?? 0))
        }
      }
    },
  )
})

/** The networks' rules with every precompile there is, and Ethereum's. */
const NETWORK = env({ params: paramsAt('osaka') })
const ETHEREUM = env({ params: ethereumParams('osaka') })
const ALL = [interpreter, wasm, createStepOracle({ records: false })]
/** The first good input of a file for a precompile. */
const inputOf = (number: number): string => {
  const file = Object.entries(FILES).find(([name, [at]]) => at === number && !name.startsWith('fail'))?.[0] ?? ''
  return vectors[file]?.find(({ Expected }) => Expected !== undefined && Expected !== '')?.Input ?? ''
}

describe.each(ALL)("the networks' own prices, on $name", engine => {
  const priced = Object.entries(PRECOMPILE_PRICES).flatMap(([number, price]) =>
    price === null ? [] : [[Number(number), price] as const],
  )

  test.each(priced)('precompile %i', async (number, { times, plus }) => {
    const input = inputOf(number)
    const own = await run(engine, ETHEREUM, number, input)
    const price = own.gasUsed * times + plus
    for (const gas of [GAS, price]) {
      const { output, gasUsed, failure } = await run(engine, NETWORK, number, input, gas)
      expect({ output: bytesToHex(output), gasUsed, failure }).toEqual({
        output: bytesToHex(own.output),
        gasUsed: price,
        failure: null,
      })
    }
    for (const gas of [price - 1n, plus - 1n, 0n].filter(gas => gas >= 0n)) {
      const { gasUsed, failure } = await run(engine, NETWORK, number, input, gas)
      expect([gasUsed, failure === null]).toEqual([gas, false])
    }
  })

  test('point evaluation is an account like any other where there are no blobs', async () => {
    const input = inputOf(0x0a)
    expect(await run(engine, ETHEREUM, 0x0a, input)).toMatchObject({ gasUsed: 50_000n, failure: null })
    const { output, gasUsed, failure } = await run(engine, NETWORK, 0x0a, input)
    expect({ output, gasUsed, failure }).toEqual({ output: new Uint8Array(), gasUsed: 0n, failure: null })
  })
})

describe.each([
  ['the networks', NETWORK],
  ['Ethereum', ETHEREUM],
] as const)('called by code at the prices of %s', (_, block) => {
  const numbers = [...new Set(Object.values(FILES).map(([number]) => number))].filter(number => number !== 0x0a)

  test.each(numbers)('precompile %i succeeds from its price on, on both engines alike', async number => {
    const input = inputOf(number)
    const { gasUsed: price } = await run(interpreter, block, number, input)
    const calling = (gas: bigint): Uint8Array =>
      hexToBytes(
        // CALLDATACOPY, STATICCALL of the precompile with this gas; its success, the size of what it returned and the gas left.
        `0x365f5f375f5f365f61${number.toString(16).padStart(4, '0')}63${gas.toString(16).padStart(8, '0')}fa5f523d6020525a60405260605ff3`,
      )
    for (const gas of [0n, 1n, price / 2n, price - 1n, price, price + 1n]) {
      if (gas < 0n) continue
      const outcomes = []
      for (const engine of [interpreter, wasm]) {
        const state = withCode(funded([caller]), CALLING, calling(gas))
        const { output, gasUsed, failure } = await engine.run(new Journal(state), block, {
          from: caller.address,
          to: CALLING,
          value: 0n,
          data: hexToBytes(`0x${input}`),
          gas: GAS,
          gasPrice: 1n,
          accessList: [],
        })
        expect(failure).toBeNull()
        outcomes.push([bytesToHex(output), gasUsed])
      }
      expect(outcomes[1]).toEqual(outcomes[0])
      expect(BigInt(String(outcomes[0]?.[0]).slice(0, 66))).toBe(gas >= price ? 1n : 0n)
    }
  })
})
