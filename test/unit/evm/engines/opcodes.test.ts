import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { Engine, EngineMessage, EngineOptions } from '../../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { outcomeOf } from '../../../support/evm/compare.ts'
import { MemoryState, memoryAccount } from '../../state/memory-state.ts'
import { env, paramsAt } from '../world.ts'

const FROM: Hex = `0x${'5e'.repeat(20)}`
const TO: Hex = `0x${'c0'.repeat(20)}`
const OSAKA = env({ params: paramsAt('osaka') })

const unused = (): never => {
  throw new Error('handed to the other engine')
}
const interpreted = createInterpreter()
const wasm = createWasmEngine(unused)

const stateOf = (code: Uint8Array): MemoryState => {
  const state = new MemoryState()
  const codeHash = keccak256Hex(code)
  state.codes.set(codeHash, code)
  state.accounts.set(TO, memoryAccount({ nonce: 1, codeHash }))
  state.accounts.set(FROM, memoryAccount({ nonce: 1, balance: 10n ** 18n }))
  return state
}
const messageOf = (data: Uint8Array, gas: bigint): EngineMessage => ({
  from: FROM,
  to: TO,
  value: 0n,
  data,
  gas,
  gasPrice: 0n,
  accessList: [],
})

const run = (
  engine: Engine,
  code: Uint8Array,
  data: Uint8Array = new Uint8Array(),
  gas = 1_000_000n,
  options: EngineOptions = {},
) => outcomeOf(engine, stateOf(code), OSAKA, messageOf(data, gas), options)

/** Runs on both engines; returns the outcome, which must be the same. */
const both = async (code: Uint8Array, data?: Uint8Array, gas?: bigint, options?: EngineOptions) => {
  const expected = await run(interpreted, code, data, gas, options)
  const got = await run(wasm, code, data, gas, options)
  expect(got.text).toBe(expected.text)
  return got
}

const bytes = (hex: string): Uint8Array => hexToBytes(`0x${hex.replaceAll(' ', '')}`)
const push = (value: bigint): string => `7f${toWord(value).slice(2)}`
const show = '5f52 60205f f3'

const M = (1n << 256n) - 1n
const WORDS: readonly bigint[] = [
  0n,
  1n,
  2n,
  7n,
  31n,
  32n,
  63n,
  64n,
  65n,
  128n,
  200n,
  255n,
  256n,
  1n << 63n,
  (1n << 64n) - 1n,
  1n << 64n,
  (1n << 128n) - 1n,
  (1n << 192n) + 12_345n,
  1n << 255n,
  (1n << 255n) - 1n,
  M - 1n,
  M,
  0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_8080_7f7f_00ff_ff00_1122_3344_5566_7788n,
]
const BINARY = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c,
  0x1d,
]
const hex = (op: number): string => op.toString(16).padStart(2, '0')

describe('an opcode in WebAssembly', () => {
  test.each(BINARY.map(op => [hex(op)]))(
    '0x%s is that of the interpreter in TypeScript: operands unknown, one known, both known',
    async op => {
      const results = (operands: (a: bigint, b: bigint) => string): Uint8Array => {
        // All results in one word: three times those before it, and the next.
        const steps = WORDS.flatMap(a => WORDS.map(b => `${operands(a, b)} ${op} 90 60 03 02 01`))
        return bytes(`5f ${steps.join(' ')} ${show}`)
      }
      const place = (value: bigint): string => `61${(WORDS.indexOf(value) * 32).toString(16).padStart(4, '0')} 35`
      const data = concatBytes(...WORDS.map(word => hexToBytes(toWord(word))))
      const outcomes = []
      for (const operands of [
        (a: bigint, b: bigint) => `${place(b)} ${place(a)}`,
        (a: bigint, b: bigint) => `${push(b)} ${place(a)}`,
        (a: bigint, b: bigint) => `${place(b)} ${push(a)}`,
        (a: bigint, b: bigint) => `${push(b)} ${push(a)}`,
      ]) {
        const { result } = await both(results(operands), data)
        expect(result?.failure).toBeNull()
        outcomes.push(Buffer.from(result?.output ?? []).toString('hex'))
      }
      expect(new Set(outcomes).size).toBe(1)
    },
  )

  test.each(['15', '19', '1e'])('0x%s is that of the interpreter in TypeScript', async op => {
    for (const word of WORDS) {
      await both(bytes(`5f 35 ${op} ${show}`), hexToBytes(toWord(word)))
      await both(bytes(`${push(word)} ${op} ${show}`))
    }
  })

  test('ADDMOD and MULMOD are those of the interpreter in TypeScript', async () => {
    for (const op of ['08', '09']) {
      for (const modulus of WORDS) {
        for (const word of WORDS) {
          const data = concatBytes(hexToBytes(toWord(modulus)), hexToBytes(toWord(word)))
          await both(bytes(`5f 35 60 20 35 80 ${op} ${show}`), data)
        }
      }
    }
  })

  test('what depends on the message and its block is that of the interpreter in TypeScript', async () => {
    for (const op of [
      '30',
      '32',
      '33',
      '34',
      '36',
      '38',
      '3a',
      '3d',
      '41',
      '42',
      '43',
      '44',
      '45',
      '46',
      '47',
      '48',
      '4a',
    ])
      await both(bytes(`${op} ${show}`), new Uint8Array(77))
    for (const op of ['58', '59', '5a']) await both(bytes(`60 01 60 40 53 ${op} 50 5b ${op} ${show}`))
  })
})

describe('gas and stack', () => {
  /** Arithmetic, memory that grows, a hash, a power, storage, a log, a loop. */
  const PROGRAM = bytes(
    '60 05 5b 60 01 90 03 80 61 0100 02 52 60 40 5f 20 60 02 0a 5f 55 5f 54 60 20 5f a1 59 5a 01 80 60 02 57 60 20 5f f3'.replace(
      '59 5a 01',
      '60 03 5f 52 5f 51 60 01 90 03 80 5f 52',
    ),
  )

  test('a message ends in the same way with any gas', async () => {
    const whole = await both(PROGRAM, undefined, 200_000n)
    const used = Number(whole.result?.gasUsed ?? 0n)
    expect(used).toBeGreaterThan(500)
    for (let gas = 0; gas < used + 50; gas += 1 + Math.floor(used / 600)) await both(PROGRAM, undefined, BigInt(gas))
  })

  test('the stack may hold 1,024 words, and no more', async () => {
    for (const count of [1_022, 1_023, 1_024, 1_025])
      await both(bytes(`${'5f'.repeat(count)} 5b 00`), undefined, 100_000n)
    for (const count of [1_023, 1_024]) await both(bytes(`${'5f'.repeat(count)} 5b 5f 50 00`), undefined, 100_000n)
    for (const height of [0, 1, 2, 3]) {
      for (const op of ['01', '08', '82', '92', '50', '56', '57', '52', '55'])
        await both(bytes(`${'60 01'.repeat(height)} 5b ${op} 00`))
    }
  })

  test('only a JUMPDEST is a destination', async () => {
    for (const target of [0, 1, 5, 6, 7, 8, 9, 10, 300]) {
      const to = target.toString(16).padStart(4, '0')
      // Known, from the call data, and in a condition; pc 9 follows a storage access, 10 is a JUMPDEST.
      await both(bytes(`61 ${to} 56 60 01 60 01 54 50 5b 60 07 5f 52 60 20 5f f3`))
      await both(bytes(`60 00 35 56 60 01 54 50 50 5b 60 07 5f 52 60 20 5f f3`), hexToBytes(toWord(BigInt(target))))
      await both(bytes(`34 15 60 00 35 57 54 50 50 5b 60 07 5f 52 60 20 5f f3`), hexToBytes(toWord(BigInt(target))))
    }
    await both(bytes(`${push(1n << 64n)} 56`))
  })

  test('memory grows with the first byte beyond it', async () => {
    for (let offset = 0n; offset < 100n; offset++) {
      for (const op of ['51', '52', '53'])
        await both(bytes(`60 20 51 5f 35 ${op} 59 ${show}`), hexToBytes(toWord(offset)))
    }
  })

  test('memory beyond all limits is not paid', async () => {
    for (const word of WORDS) {
      for (const op of ['51', '52', '53']) {
        await both(bytes(`60 07 ${push(word)} ${op} 59 ${show}`))
        await both(bytes(`60 07 5f 35 ${op} 59 ${show}`), hexToBytes(toWord(word)))
      }
    }
  })
})

describe('interruption', () => {
  /** Counts down from the number in the call data. */
  const LOOP = bytes('5f 35 5b 60 01 90 03 80 60 02 57 5f 52 60 20 5f f3')
  const times = (count: bigint): Uint8Array => hexToBytes(toWord(count))

  test('a long loop pauses at every slice of gas, and goes on', async () => {
    let pauses = 0
    const interrupt = {
      sliceMs: 0,
      giveWay: async () => {
        pauses++
      },
      shouldStop: () => false,
    }
    const { result } = await run(wasm, LOOP, times(100_000n), 10_000_000n, { interrupt })
    expect(result?.failure).toBeNull()
    expect(pauses).toBeGreaterThanOrEqual(Number(result?.gasUsed ?? 0n) / 210_000 - 1)
  })

  test('the gas bound of a message ends it, and leaves one within it alone', async () => {
    const used = (await both(LOOP, times(1_000n))).result?.gasUsed ?? 0n
    for (const gasBound of [0n, 1n, 100n, used / 2n, used - 100n]) {
      const { text } = await run(wasm, LOOP, times(1_000n), 1_000_000n, { gasBound })
      expect(text).toContain('GAS_BOUND_EXCEEDED')
    }
    const { text } = await run(wasm, LOOP, times(1_000n), 1_000_000n, { gasBound: used })
    expect(text).toBe((await run(interpreted, LOOP, times(1_000n))).text)
  })
})

describe('hostile code of 24 KiB', () => {
  const SIZE = 24_576

  test.each([
    ['of destinations', '5b'],
    ['that jumps to itself', '5b 36 5f 57'],
    ['that jumps to where the stack says', '5b 80 80 57'],
    ['that fills the stack', '5b 5f'],
    ['that moves words of the whole stack', '8f 9f'],
    ['that looks at memory of an unknown size', '36 51 50 36 36 52'],
    ['that reads beyond its input', '36 35 50'],
    ['of logs', 'a4'],
    ['of pushes that are cut off', '7f 5b 5b 7e'],
  ])('%s runs as interpreted', async (_what, body) => {
    const part = bytes(body)
    const code = Uint8Array.from({ length: SIZE }, (_, i) => part[i % part.length] as number)
    for (const gas of [10_000n, 400_000n]) await both(code, new Uint8Array(40), gas)
    // With words on the stack, and a jump at the end.
    await both(concatBytes(bytes('5f'.repeat(20)), code.subarray(0, SIZE - 24), bytes('5f 56')), undefined, 200_000n)
  })
})
