import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { EVM_FORKS, type EvmFork } from '../../../src/config/forks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { EngineMessage } from '../../../src/evm/engine.ts'
import { env, paramsAt } from '../../unit/evm/world.ts'
import { MemoryState, memoryAccount } from '../../unit/state/memory-state.ts'
import type { Random } from '../executor-plans.ts'
import { mutated, Program, randomBytesProgram } from './programs.ts'
import { type RealContract, realCallData } from './real-contracts.ts'
import { failingProgram, reporterProgram } from './reporters.ts'

/* Worlds of a few contracts, and messages to them. */

export const SENDER: Hex = `0x${'5e'.repeat(20)}`
export const CONTRACTS: readonly Hex[] = Array.from({ length: 4 }, (_, i) => `0x${'c0'.repeat(19)}0${i + 1}` as Hex)
export const DELEGATED: Hex = `0x${'d7'.repeat(20)}`
const RICH: Hex = `0x${'b0'.repeat(20)}`
const NOBODY: Hex = `0x${'99'.repeat(20)}`
/** There, but with nothing in it (EIP-161). */
const EMPTY: Hex = `0x${'e0'.repeat(20)}`
/** Code that begins as that of the object format, which no fork has. */
const OBJECT: Hex = `0x${'0e'.repeat(20)}`
const PRECOMPILE: Hex = `0x${'00'.repeat(19)}03`
export const ADDRESSES: readonly Hex[] = [
  SENDER,
  ...CONTRACTS,
  ...CONTRACTS,
  DELEGATED,
  RICH,
  NOBODY,
  EMPTY,
  OBJECT,
  PRECOMPILE,
]

const params = new Map(EVM_FORKS.map(fork => [fork, paramsAt(fork)]))

export interface Case {
  readonly state: MemoryState
  readonly env: BlockEnv
  readonly message: EngineMessage
  readonly fork: EvmFork
}

const give = (state: MemoryState, at: Hex, code: Uint8Array, balance: bigint, random: Random): void => {
  const codeHash = keccak256Hex(code)
  const storage = new Map<Hex, Hex>()
  for (let i = random.int(4); i > 0; i--) storage.set(toWord(BigInt(random.int(5))), toWord(BigInt(1 + random.int(3))))
  state.codes.set(codeHash, code)
  state.accounts.set(at, memoryAccount({ nonce: 1, balance, codeHash, storage }))
}

const codeFor = (random: Random, fork: EvmFork): Uint8Array => {
  const kind = random.int(40)
  if (kind < 2) return randomBytesProgram(random)
  if (kind < 4) return mutated(new Program(random, ADDRESSES, fork).build(), random)
  if (kind === 4) return precompileProgram(random)
  if (kind < 8) return failingProgram(random, fork)
  if (kind < 20) return reporterProgram(random, ADDRESSES, fork)
  return new Program(random, ADDRESSES, fork).build()
}

/** Real contract in the world: as it is, or with a few bytes changed. */
const realCodeFor = ({ runtime }: RealContract, random: Random): Uint8Array =>
  random.chance(2) ? mutated(runtime, random) : runtime

const forkFor = ({ chance, pick }: Random): EvmFork =>
  chance(3) ? pick(EVM_FORKS) : pick(['cancun', 'prague', 'osaka'] as const)

const initFor = (random: Random, fork: EvmFork, real: RealContract | undefined): Uint8Array => {
  if (real === undefined) return codeFor(random, fork)
  const init = concatBytes(real.init, ...Array.from({ length: random.int(4) }, () => hexToBytes(toWord(random.word()))))
  return random.chance(2) ? mutated(init, random) : init
}

/** Another message to the same world, whose making costs more than a run: to another contract, with other input, with other gas. */
export const variantOf = (message: EngineMessage, random: Random): EngineMessage => ({
  ...message,
  ...(message.to !== null && random.chance(2) && { to: random.pick(CONTRACTS) }),
  data: random.chance(3)
    ? random.bytes(random.int(100))
    : concatBytes(message.data.subarray(0, 4), random.bytes(random.int(70))),
  gas: BigInt(random.chance(2) ? random.int(60_000) : 400_000),
})

/** The same message with too little gas at some point of its run, or just enough for it. */
export const withLessGas = (message: EngineMessage, gasUsed: bigint, random: Random): EngineMessage => ({
  ...message,
  gas: random.chance(4) ? gasUsed - BigInt(random.int(2)) : (gasUsed * BigInt(random.int(100_000))) / 100_000n,
})

/** Message after others to the same world. */
export const nextMessage = (last: EngineMessage, random: Random): EngineMessage => ({
  ...variantOf(last, random),
  gas: BigInt(random.chance(5) ? random.int(60_000) : 200_000 + random.int(400_000)),
  ...(random.chance(6) && { value: BigInt(random.int(5)) }),
  ...(random.chance(8) && { accessList: accessListFor(random) }),
  ...(last.to !== null && random.chance(20) && { to: random.pick(ADDRESSES) }),
})

/** Gives one contract of the world another code: a new one, or its own with a few bytes changed. */
export const changeCode = (state: MemoryState, fork: EvmFork, random: Random): void => {
  const at = random.pick(CONTRACTS)
  const code = state.code(at)
  give(state, at, random.chance(2) && code.byteLength > 0 ? mutated(code, random) : codeFor(random, fork), 5n, random)
}

const accessListFor = (random: Random): EngineMessage['accessList'] => [
  { address: random.pick(ADDRESSES), storageKeys: [toWord(BigInt(random.int(5)))] },
]

/** One case from a seed, at the fork or at one of all. */
export const randomCase = (random: Random, contracts: readonly RealContract[] = [], at?: EvmFork): Case => {
  const real = contracts.length > 0 && random.chance(8) ? random.pick(contracts) : undefined
  const fork = at ?? forkFor(random)
  const state = new MemoryState()
  state.accounts.set(SENDER, memoryAccount({ nonce: 7, balance: BigInt(random.int(3)) * 10n ** 6n + 5n }))
  for (const at of CONTRACTS) give(state, at, codeFor(random, fork), BigInt(random.int(10)), random)
  if (real !== undefined) give(state, CONTRACTS[0] as Hex, realCodeFor(real, random), 5n, random)
  give(state, OBJECT, hexToBytes('0xef00010203'), 0n, random)
  if (random.chance(3)) {
    const target = random.chance(5) ? DELEGATED : random.chance(8) ? PRECOMPILE : random.pick(CONTRACTS)
    give(state, DELEGATED, concatBytes(Uint8Array.of(0xef, 0x01, 0x00), hexToBytes(target)), 3n, random)
  }
  state.accounts.set(RICH, memoryAccount({ balance: 10n ** 20n }))
  state.accounts.set(EMPTY, memoryAccount())
  if (random.chance(10)) state.accounts.set(PRECOMPILE, memoryAccount())
  const creates = random.chance(8)
  const message: EngineMessage = {
    from: SENDER,
    to: creates ? null : random.chance(30) ? random.pick(ADDRESSES) : (CONTRACTS[0] as Hex),
    value: random.chance(4) ? BigInt(random.int(5)) : 0n,
    data: creates
      ? initFor(random, fork, real)
      : real === undefined
        ? random.bytes(random.int(100))
        : realCallData(real, random, ADDRESSES),
    gas: BigInt(random.chance(3) ? random.int(40_000) : 300_000 + random.int(700_000)),
    gasPrice: BigInt(random.int(100)),
    accessList: random.chance(4) ? accessListFor(random) : [],
    blobVersionedHashes: random.chance(4) ? [toWord(random.word())] : [],
  }
  return { fork, state, message, env: env({ params: params.get(fork) as BlockEnv['params'] }) }
}

/* Calls of precompiles with inputs that mean something: go-ethereum's vectors, whole or with a byte changed, cut or extended. */

const VECTORS = new URL('../../conformance/data/precompiles/vectors.json.br', import.meta.url)
const NUMBERS: readonly (readonly [RegExp, number])[] = [
  [/^ecRecover/, 1],
  [/^modexp/, 5],
  [/^bn256Add/, 6],
  [/^bn256ScalarMul/, 7],
  [/^bn256Pairing/, 8],
  [/blake2/i, 9],
  [/^pointEvaluation/, 10],
  [/blsG1Add/, 11],
  [/blsG1M/, 12],
  [/blsG2Add/, 13],
  [/blsG2M/, 14],
  [/blsPairing/, 15],
  [/blsMapG1/, 16],
  [/blsMapG2/, 17],
  [/^p256/, 0x100],
]
/** Longer ones take milliseconds. */
const LONGEST_BYTES = 400

interface PrecompileInput {
  readonly number: number
  readonly input: Uint8Array
}

const readInputs = (): readonly PrecompileInput[] => {
  const files = JSON.parse(brotliDecompressSync(readFileSync(VECTORS)).toString('utf8')) as Readonly<
    Record<string, readonly { readonly Input: string }[]>
  >
  return Object.entries(files).flatMap(([file, vectors]) => {
    const number = NUMBERS.find(([name]) => name.test(file))?.[1]
    if (number === undefined) return []
    return vectors.map(({ Input }) => ({ number, input: hexToBytes(`0x${Input}`) }))
  })
}

let kept: readonly PrecompileInput[] | undefined
const inputFor = (random: Random): PrecompileInput => {
  kept ??= readInputs().filter(({ input }) => input.byteLength <= LONGEST_BYTES)
  // The hashes and the identity take any bytes.
  if (random.chance(4)) return { number: random.pick([2, 3, 4]), input: random.bytes(random.int(300)) }
  return random.pick(kept)
}

const varied = (input: Uint8Array, { chance, int, bytes }: Random): Uint8Array => {
  if (chance(3)) {
    const out = Uint8Array.from(input)
    if (out.byteLength > 0) out[int(out.byteLength)] = int(256)
    return out
  }
  if (chance(6)) return input.subarray(0, int(input.byteLength + 1))
  return chance(6) ? concatBytes(input, bytes(int(40))) : input
}

/** Program that calls a precompile with an input at its own end; its output is that of the precompile after the word of its success. */
const precompileProgram = (random: Random): Uint8Array => {
  const { number, input: whole } = inputFor(random)
  const input = varied(whole, random)
  const size = [input.byteLength >> 8, input.byteLength & 255]
  const op = random.pick([0xf1, 0xf2, 0xf4, 0xfa])
  const value = op === 0xf1 || op === 0xf2 ? [0x5f] : []
  const gas = random.chance(6) ? [0x61, random.int(64), random.int(256)] : [0x5a]
  const call = [0x5f, 0x5f, 0x61, ...size, 0x5f, ...value, 0x61, number >> 8, number & 255, ...gas, op]
  const report = [0x5f, 0x52, 0x3d, 0x5f, 0x60, 0x20, 0x3e, 0x3d, 0x60, 0x20, 0x01, 0x5f, 0xf3]
  // CODECOPY takes ten bytes.
  const at = 10 + call.length + report.length
  const copy = [0x61, ...size, 0x61, at >> 8, at & 255, 0x60, 0, 0x39, 0x5b]
  return concatBytes(Uint8Array.from([...copy, ...call, ...report]), input)
}
