import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import type { Random } from '../../property/executor-plans.ts'

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
export const precompileProgram = (random: Random): Uint8Array => {
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
