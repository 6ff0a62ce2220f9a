import { createHash } from 'node:crypto'
import { createEVM } from '@ethereumjs/evm'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../../devtools/interpreter/engine.ts'
import { ethereumParams } from '../../../devtools/state-test/fork.ts'
import { kzgVerifier } from '../../../src/evm/engines/ethereumjs/common.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { env, funded, key } from './world.ts'

/** The point evaluation vector of the public precompile tests (EIP-4844). */
const KZG_INPUT: Hex =
  '0x01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a'
const KZG_OUTPUT: Hex =
  '0x000000000000000000000000000000000000000000000000000000000000100073eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001'

const caller = key(1)
const run = (number: number, data: Uint8Array, gas = 1_000_000n) =>
  createInterpreter().run(new Journal(funded([caller])), env({ params: ethereumParams('cancun') }), {
    from: caller.address,
    to: `0x${number.toString(16).padStart(40, '0')}`,
    value: 0n,
    data,
    gas,
    gasPrice: 1n,
    accessList: [],
  })

test('point evaluation (0x0a) checks the proof', async () => {
  const right = await run(0x0a, hexToBytes(KZG_INPUT))
  expect(right).toMatchObject({ failure: null, gasUsed: 50_000n })
  expect(bytesToHex(right.output)).toBe(KZG_OUTPUT)
  // Another value at the point; then an argument that is no point.
  for (const place of [66 * 2, 100 * 2]) {
    const digits = [...KZG_INPUT]
    digits[2 + place] = digits[2 + place] === '0' ? '1' : '0'
    const wrong = await run(0x0a, hexToBytes(digits.join('') as Hex))
    expect(wrong.failure).not.toBeNull()
    expect(wrong.gasUsed).toBe(1_000_000n)
  }
})

test('a proof of the zero polynomial is the point at infinity', () => {
  const infinity = `0xc0${'00'.repeat(47)}`
  const zero = `0x${'00'.repeat(32)}`
  expect(kzgVerifier.verifyProof(infinity, zero, zero, infinity)).toBe(true)
  expect(kzgVerifier.verifyProof(infinity, zero, `0x${'00'.repeat(31)}01`, infinity)).toBe(false)
  expect(() => kzgVerifier.verifyProof(infinity, `0x${'ff'.repeat(32)}`, zero, infinity)).toThrow('C_KZG_BADARGS')
})

test.each([
  [0x02, '0x', '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 60n],
  [0x03, '0x', `0x${'00'.repeat(12)}9c1185a5c5e9fc54612808977ee8f548b2258d31`, 600n],
  [0x04, '0x0102', '0x0102', 18n],
] as const)('precompile %i', async (number, input, output, gasUsed) => {
  const result = await run(number, hexToBytes(input))
  expect(result).toMatchObject({ failure: null, gasUsed })
  expect(bytesToHex(result.output)).toBe(output)
})

/** The state of BLAKE2b-512 before its first block (RFC 7693). */
const BLAKE2_H =
  '48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b'
const blake2Input = (rounds: number, rest: string): Uint8Array =>
  hexToBytes(`0x${rounds.toString(16).padStart(8, '0')}${rest}`)
const BLAKE2_REST = `${BLAKE2_H}${'616263'.padEnd(256, '0')}${'03'.padEnd(32, '0')}`

test('BLAKE2 F (0x09) with twelve rounds is the hash of one block, at a gas a round', async () => {
  const result = await run(9, blake2Input(12, `${BLAKE2_REST}01`))
  expect(result).toMatchObject({ failure: null, gasUsed: 12n })
  expect(bytesToHex(result.output)).toBe(`0x${createHash('blake2b512').update('abc').digest('hex')}`)
  for (const bad of [BLAKE2_REST, `${BLAKE2_REST}02`, `${BLAKE2_REST}0100`]) {
    const result = await run(9, blake2Input(12, bad))
    expect(result.failure).not.toBeNull()
    expect(result.gasUsed).toBe(1_000_000n)
  }
  expect(await run(9, blake2Input(1_000_001, `${BLAKE2_REST}01`))).toMatchObject({
    failure: { kind: 'halt', reason: 'out of gas' },
    gasUsed: 1_000_000n,
  })
})

test("BLAKE2 F answers what EthereumJS' own does", async () => {
  const { precompiles } = await createEVM()
  const theirs = precompiles.get(`${'0'.repeat(38)}09`) as unknown as (input: object) => { returnValue: Uint8Array }
  const common = { param: () => 1n }
  for (let i = 0; i < 200; i++) {
    const data = new Uint8Array(213)
    for (let at = 4; at < 212; at++) data[at] = (at * 2_654_435_761 + i * 40_503) >>> (i % 16)
    data[3] = i
    data[212] = i & 1
    const { returnValue } = theirs({ data, gasLimit: 1_000n, common })
    expect(bytesToHex((await run(9, data)).output)).toBe(bytesToHex(returnValue))
  }
})
