import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { EngineMessage, EngineOptions } from '../../../src/evm/engine.ts'
import { createImmediateCompiler } from '../../../src/evm/engines/wasm/compiler/code-compiler.ts'
import { createWasmEngine } from '../../../src/evm/engines/wasm/wasm-engine.ts'
import { type Hex, hexToBytes, toWord } from '../../../src/util/bytes.ts'
import { createRandom } from '../../property/executor-plans.ts'
import { env, paramsAt } from '../../unit/evm/world.ts'
import { MemoryState, memoryAccount } from '../../unit/state/memory-state.ts'
import { randomCase, variantOf } from './cases.ts'
import { outcomeOf } from './compare.ts'

/* Compiled code against the interpreter, in seconds: a few programs for what random ones meet rarely, then random messages. */

const FROM: Hex = `0x${'5e'.repeat(20)}`
const TO: Hex = `0x${'c0'.repeat(20)}`
const OSAKA = env({ params: paramsAt('osaka') })

const show = '5f52 60205f f3'
const hex = (value: number): string => value.toString(16).padStart(2, '0')

const WORDS = [
  0n,
  1n,
  7n,
  33n,
  255n,
  259n,
  (1n << 64n) - 1n,
  1n << 255n,
  (1n << 256n) - 1n,
  (0x0123n << 240n) | 0x80ff7fn,
]
const BINARY = [1, 2, 3, 4, 5, 6, 7, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d]
const push = (value: bigint): string => `7f${toWord(value).slice(2)}`
const UNARY = [0x15, 0x19, 0x1e]
const ENVIRONMENT = [
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
]
/** Mixes the result of an opcode into the word below: three times that, and the result. */
const mix = (operation: string): string => `${operation} 90 6003 02 01`

/** Every operation on one and on two words. */
const operations = (operands: (a: string) => string): string =>
  [
    '5f',
    ...UNARY.map(op => mix(`5f35 ${hex(op)}`)),
    ...BINARY.flatMap(op => WORDS.map(word => mix(`${operands(push(word))} ${hex(op)}`))),
    show,
  ].join(' ')
const LOOP = `5f35 5b 60 01 90 03 80 5a 50 80 51 01 80 60 ff 16 53 80 60 02 57 59 ${show}`
/** Code, and its call data: a word. */
const PROGRAMS: readonly (readonly [code: string, word: bigint])[] = [
  // JUMPDEST in push data, as a known destination and as one from the call data.
  ['6004 56 60 5b 60 07 5f52 60205f f3', 0n],
  ['5f35 56 60 5b 60 07 5f52 60205f f3', 4n],
  // 1,024 words, and 1,025 for a moment.
  [`${'5f'.repeat(1_024)} 5b 00`, 0n],
  [`${'5f'.repeat(1_000)} 5b ${'5f'.repeat(25)} 50 50 5b 00`, 0n],
  [`${'5f'.repeat(1_024)} 5b 80 50 5b 00`, 0n],
  // POP of an empty stack after a JUMPDEST.
  ['60 01 50 5b 50 50 60 01 5f52 60205f f3', 0n],
  // Words of the last block, copied and exchanged.
  [`60 05 60 07 5b 81 5b ${show}`, 0n],
  [`60 05 60 07 60 09 5b 91 5b 03 02 ${show}`, 0n],
  // Memory of a known size and offset.
  [`60 01 60 01 52 59 60 21 51 59 ${show}`, 0n],
  // Memory that a hash, a copy or a log has grown.
  ['61 01 00 5f 20 50 59 5b 59 01 5f52 60205f f3', 0n],
  ['60 20 5f 61 01 00 37 59 5f52 60205f f3', 0n],
  ['60 40 61 01 00 a0 59 5f52 60205f f3', 0n],
  // Loop over memory, with a pause in each slice.
  [LOOP, 300n],
  [`5f35 51 59 ${show}`, 1n << 64n],
  [`58 58 01 5b 58 01 ${show}`, 0n],
  [`5f ${ENVIRONMENT.map(mix).join(' ')} 5b ${mix('5a')} ${show}`, 0n],
  ...WORDS.flatMap(
    word =>
      [
        [operations(a => `${a} 5f35`), word],
        [operations(a => `5f35 ${a}`), word],
        [operations(a => `${a} ${push(word)}`), 0n],
      ] as const,
  ),
]

const stateOf = (code: Uint8Array): MemoryState => {
  const state = new MemoryState()
  const codeHash = keccak256Hex(code)
  state.codes.set(codeHash, code)
  state.accounts.set(TO, memoryAccount({ nonce: 1, codeHash }))
  state.accounts.set(FROM, memoryAccount({ nonce: 1, balance: 10n ** 18n }))
  return state
}

/** Points in the gas of a run at which it is cut short. */
const CUTS = 12

interface DifferenceOptions {
  readonly seed: number
  /** Random cases, each with a few messages. */
  readonly cases: number
}

const unused = (): never => {
  throw new Error('handed to the other engine')
}

/** Returns the description of the first difference between compiled code and the interpreter; null: none. */
export const compiledDifference = async ({ seed, cases }: DifferenceOptions): Promise<string | null> => {
  const interpreted = createWasmEngine(unused)
  const compiled = createWasmEngine(unused, createImmediateCompiler())
  const compare = async (
    what: string,
    state: MemoryState,
    block: BlockEnv,
    message: EngineMessage,
    options: EngineOptions = {},
  ) => {
    const expected = await outcomeOf(interpreted, state, block, message, options)
    const got = await outcomeOf(compiled, state, block, message, options)
    return { gas: expected.result?.gasUsed ?? 0n, text: got.text === expected.text ? null : `${what}: ${got.text}` }
  }
  for (const [text, word] of PROGRAMS) {
    const code = hexToBytes(`0x${text.replaceAll(' ', '')}`)
    const message = { from: FROM, to: TO, value: 0n, data: hexToBytes(toWord(word)), gasPrice: 0n, accessList: [] }
    const { gas, text: difference } = await compare(text, stateOf(code), OSAKA, { ...message, gas: 1_000_000n })
    if (difference !== null) return difference
    // Both pause in a loop; straight code may end beyond its bound.
    const options = text === LOOP ? { gasBound: gas / 2n } : {}
    const bounded = await compare(`${text} bounded`, stateOf(code), OSAKA, { ...message, gas: 1_000_000n }, options)
    if (bounded.text !== null) return bounded.text
    for (let cut = 0n; cut < CUTS; cut++) {
      const short = (gas * cut) / BigInt(CUTS)
      const end = await compare(`${text} with ${short} gas`, stateOf(code), OSAKA, { ...message, gas: short })
      if (end.text !== null) return end.text
    }
  }
  for (let i = 0; i < cases; i++) {
    const random = createRandom(seed + i)
    const { state, env: block, message } = randomCase(random)
    const { gas, text } = await compare(`SEED=${seed + i}`, state, block, message)
    if (text !== null) return text
    const others = [variantOf(message, random), { ...message, gas: gas - 1n }, { ...message, gas: gas / 2n }]
    for (const other of others) {
      if (other.gas < 0n) continue
      const end = await compare(`SEED=${seed + i}, gas ${other.gas}`, state, block, other)
      if (end.text !== null) return end.text
    }
  }
  return null
}
