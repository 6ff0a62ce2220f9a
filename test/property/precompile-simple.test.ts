import { createHash } from 'node:crypto'
import { createCustomCommon, Mainnet } from '@ethereumjs/common'
import { getActivePrecompiles, type PrecompileInput, paramsEVM } from '@ethereumjs/evm'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { customCrypto } from '../../src/crypto/ethereumjs-crypto.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import { bytesToHex, concatBytes, hexToBytes, toWord } from '../../src/util/bytes.ts'
import { SEED } from '../support/seed.ts'
import { bothWays } from '../unit/evm/precompile-pair.ts'

const word = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })

test.each([
  ['SHA256', 2],
  ['RIPEMD160', 3],
])("%s answers and costs what EthereumJS' own does", async (_, number) => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(0n, 700n, 10n ** 6n), async (data, gas) => {
      const { ours, theirs } = await bothWays('cancun', number, data, gas)
      expect(ours).toEqual(theirs)
    }),
    { seed: SEED, numRuns: 100 },
  )
  const large = new Uint8Array(1_500_001).map((_, at) => at * 31)
  const { ours, theirs } = await bothWays('cancun', number, large)
  expect(ours).toEqual(theirs)
})

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const number = (data: Uint8Array): bigint => BigInt(bytesToHex(data))

test("ECRECOVER with our providers answers what it does with EthereumJS' own, high s and odd v included", async () => {
  const common = (own: boolean) => {
    const made = createCustomCommon({ chainId: 7 }, Mainnet, { ...(own && { customCrypto }) })
    made.updateParams(paramsEVM)
    return made
  }
  const [ours, theirs] = [common(true), common(false)]
  const recover = getActivePrecompiles(ours).get(`${'0'.repeat(38)}01`) as (input: PrecompileInput) => {
    returnValue: Uint8Array
  }
  const run = (data: Uint8Array, rules: typeof ours) =>
    bytesToHex(recover({ data, gasLimit: 10_000n, common: rules } as PrecompileInput).returnValue)
  const secret = bytes(32).filter(key => number(key) > 0n && number(key) < ORDER)
  const v = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(27n, 28n) },
    fc.constantFrom(0n, 1n, 26n, 29n, 2n ** 255n + 27n),
  )
  const broken = fc.constantFrom(0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n)
  let recovered = 0
  fc.assert(
    fc.property(secret, bytes(32), v, fc.nat(7), broken, fc.nat(200), (key, digest, v, way, other, cut) => {
      const signature = sign(digest, key)
      const r = way === 0 ? other : number(signature.subarray(0, 32))
      const low = number(signature.subarray(32, 64))
      const s = way === 1 ? other : way < 4 ? ORDER - low : low
      const data = concatBytes(digest, word(v), word(r), word(s)).subarray(0, way === 7 ? cut : 200)
      const answer = run(data, ours)
      expect(answer).toBe(run(data, theirs))
      if (answer.endsWith(addressFromPrivateKey(key).slice(2))) recovered++
    }),
    { seed: SEED, numRuns: 150 },
  )
  expect(recovered).toBeGreaterThan(20)
})

const G1 = bls12_381.G1.Point
const R = bls12_381.fields.Fr.ORDER
const compressed = (n: bigint): Uint8Array => (n === 0n ? G1.ZERO : G1.BASE.multiply(n)).toBytes()

test('point evaluation judges proofs and arguments as the reference does', async () => {
  const scalar = fc.oneof(fc.bigInt(0n, R - 1n), fc.constantFrom(0n, 1n, R - 1n))
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(scalar, scalar, scalar, fc.nat(9), async (constant, at, other, way) => {
      // A constant polynomial: its opening is infinity everywhere.
      const commitment = compressed(constant)
      const proof = compressed(way === 0 ? other : 0n)
      const point = way === 1 ? R + (at % 3n) : at
      const value = way === 2 ? other : way === 3 ? R : constant
      if (way === 4) commitment[0] = (commitment[0] as number) ^ 0x20
      if (way === 5) commitment[47] = (commitment[47] as number) ^ 1
      const hash = createHash('sha256').update(commitment).digest()
      hash[0] = way === 6 ? 2 : 1
      const data = concatBytes(hash, word(point), word(value), commitment, proof)
      const { ours, theirs } = await bothWays('cancun', 0x0a, way === 7 ? data.subarray(1) : data)
      expect(ours).toEqual(theirs)
      if (ours.error === undefined) accepted++
    }),
    { seed: SEED, numRuns: 60 },
  )
  expect(accepted).toBeGreaterThan(5)
})
