import { hash } from 'node:crypto'
import { bn254 } from '@noble/curves/bn254.js'
import { bytesToBigint, bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { createRandom } from '../../../property/executor-plans.ts'
import { SEED } from '../../../support/seed.ts'
import { env, funded, key, withCode } from '../world.ts'
import { engineOf } from './engines.ts'

/* Shorter ways that the module takes for some operands. */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const random = createRandom(SEED)
const wasm = await engineOf('wasm')
const interpreter = await engineOf('interpreter')
const block = env()

const contract = (code: Hex) => {
  const state = withCode(funded([sender]), TARGET, hexToBytes(code))
  return (engine: typeof wasm, data: Uint8Array, gas = 1_000_000n) =>
    engine.run(new Journal(state), block, {
      from: sender.address,
      to: TARGET,
      value: 0n,
      data,
      gas,
      gasPrice: 1n,
      accessList: [],
    })
}
const words = (...values: readonly bigint[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(value))))

test(`MULMOD by 2^256 less a limb is the product's remainder (SEED=${SEED})`, async () => {
  const run = contract('0x6040356020355f35095f5260205ff3')
  const FULL = 2n ** 256n
  const limb = (): bigint => bytesToBigint(random.bytes(8))
  const numbers = (modulus: bigint): readonly bigint[] => [
    0n,
    1n,
    modulus - 1n,
    modulus,
    modulus + 1n < FULL ? modulus + 1n : 2n,
    FULL - 1n,
    FULL - limb(),
    limb(),
    random.word(),
    bytesToBigint(random.bytes(32)),
    bytesToBigint(random.bytes(32)),
  ]
  const ends = [1n, 2n, 189n, 2n ** 32n + 977n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 64n + 1n]
  for (const c of [...ends, ...Array.from({ length: 20 }, limb)]) {
    const modulus = FULL - c
    for (const a of numbers(modulus)) {
      for (const b of numbers(modulus)) {
        const { output } = await run(wasm, words(a, b, modulus))
        expect(`${a} ${b} ${c}: ${bytesToBigint(output)}`).toBe(`${a} ${b} ${c}: ${(a * b) % modulus}`)
      }
    }
  }
})

/** Lengths next to those at which another way of copying begins. */
const SIZES = [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 511, 512, 513, 1_023, 1_024, 1_025]

test.each(SIZES)('CALLDATACOPY of %d bytes, with zeros behind the end of the input', async size => {
  // Memory for the copy, then a copy as the first three words say, then all of the memory.
  const run = contract('0x5f6107e0526040356020355f35376108005ff3')
  for (const [to, from, length] of [
    [0, 0, 0],
    [0, 96, 1_200],
    [7, 97, 1_200],
    [900, 100, 120],
    [3, 5_000, 120],
    [1, 120, size],
    [2_048 - size, 90, 600],
  ] as const) {
    const data = concatBytes(words(BigInt(to), BigInt(from), BigInt(size)), random.bytes(length))
    const expected = await run(interpreter, data)
    const got = await run(wasm, data)
    expect(got.output).toEqual(expected.output)
    expect(got.gasUsed).toBe(expected.gasUsed)
    // Too little gas at each point of the run.
    for (let gas = 0n; gas < expected.gasUsed; gas += 7n)
      expect((await run(wasm, data, gas)).failure).toEqual({ kind: 'halt', reason: 'out of gas' })
  }
})

/** Of the precompiles that run without EthereumJS' input and result around them. */
test.each([6, 7])('precompile %d gives the same for short, long, wrong and unpaid input', async number => {
  const run = contract(
    `0x365f5f375f5f365f5f60${number.toString(16).padStart(2, '0')}5af1805f52503d60205f3e3d60200160405260605ff3`,
  )
  const one = words(1n, 2n)
  const inputs = [
    new Uint8Array(0),
    one,
    one.subarray(0, 63),
    concatBytes(one, one),
    concatBytes(one, words(7n)),
    concatBytes(one, one, one),
    words(1n, 3n, 1n, 2n),
    words(2n ** 256n - 1n, 2n),
  ]
  for (const data of inputs) {
    for (const gas of [1_000_000n, 40_000n, 6_000n, 500n, 300n]) {
      const expected = await run(interpreter, data, gas)
      const got = await run(wasm, data, gas)
      expect([got.output, got.gasUsed, got.failure]).toEqual([expected.output, expected.gasUsed, expected.failure])
    }
  }
})

/*
 * A call to itself writes 7 and fails; before it the word of the input is written, unless it is zero. The undo log has a short record for
 * the first change of a word, and a copy of it for later ones.
 */
test.each([
  ['transient', '5d', '5c'],
  ['stored', '55', '54'],
])('a %s word is what it was before a frame that failed', async (_, write, read) => {
  const outer = `3033146023575f358015601057805f${write}5b505f5f5f5f5f305af1505f${read}5f5260205ff3`
  const run = contract(`0x${outer}5b60075f${write}5f5ffd`)
  for (const before of [0n, 5n]) {
    const expected = await run(interpreter, words(before))
    const got = await run(wasm, words(before))
    expect(bytesToBigint(got.output)).toBe(before)
    expect([got.output, got.gasUsed, got.refund]).toEqual([expected.output, expected.gasUsed, expected.refund])
  }
})

test(`sums of points of bn254 are those of the reference (SEED=${SEED})`, async () => {
  const { Point } = bn254.G1
  const order = bn254.fields.Fr.ORDER
  const bytesOf = (point: typeof Point.BASE): Uint8Array => {
    const { x, y } = point.toAffine()
    return words(x, y)
  }
  const scalar = (): bigint => 1n + (bytesToBigint(random.bytes(32)) % (order - 1n))
  const state = funded([sender])
  const to: Hex = `0x${'00'.repeat(19)}06`
  for (let i = 0; i < 120; i++) {
    const a = Point.BASE.multiply(i % 7 === 6 ? 1n + BigInt(i) : scalar())
    const b = i % 6 === 0 ? a : i % 6 === 1 ? a.negate() : i % 6 === 2 ? Point.ZERO : Point.BASE.multiply(scalar())
    for (const [left, right] of [
      [a, b],
      [b, a],
    ] as const) {
      const data = concatBytes(bytesOf(left), bytesOf(right))
      const message = { from: sender.address, to, value: 0n, data, gas: 150n, gasPrice: 1n, accessList: [] }
      const { output, gasUsed } = await wasm.run(new Journal(state), block, message)
      expect(bytesToHex(output)).toBe(bytesToHex(bytesOf(left.add(right))))
      expect(gasUsed).toBe(150n)
    }
  }
})

test(`SHA256 of every length up to two blocks more than the module hashes (SEED=${SEED})`, async () => {
  const state = funded([sender])
  for (let size = 0; size <= 640; size++) {
    const data = random.bytes(size)
    const to: Hex = `0x${'00'.repeat(19)}02`
    const message = { from: sender.address, to, value: 0n, data, gas: 100_000n, gasPrice: 1n, accessList: [] }
    const { output } = await wasm.run(new Journal(state), block, message)
    expect(`${size}: ${bytesToHex(output)}`).toBe(`${size}: 0x${hash('sha256', data)}`)
  }
})
