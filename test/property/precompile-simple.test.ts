import { createHash } from 'node:crypto'
import { createCustomCommon, Mainnet } from '@ethereumjs/common'
import { getActivePrecompiles, type PrecompileInput, paramsEVM } from '@ethereumjs/evm'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { p256 } from '@noble/curves/nist.js'
import { bytesToHex, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EVM_FORKS } from '../../src/config/forks.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import { customCrypto } from '../../src/evm/engines/ethereumjs/common.ts'
import { SEED } from '../support/seed.ts'
import { bothWays, ownNumbers } from '../unit/evm/precompile-pair.ts'

const word = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })

test.each([
  ['SHA256', 2],
  ['RIPEMD160', 3],
  ['IDENTITY', 4],
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
  await fc.assert(
    fc.asyncProperty(secret, bytes(32), v, fc.nat(7), broken, fc.nat(200), async (key, digest, v, way, other, cut) => {
      const signature = sign(digest, key)
      const r = way === 0 ? other : number(signature.subarray(0, 32))
      const low = number(signature.subarray(32, 64))
      const s = way === 1 ? other : way < 4 ? ORDER - low : low
      const data = concatBytes(digest, word(v), word(r), word(s)).subarray(0, way === 7 ? cut : 200)
      const answer = run(data, ours)
      expect(answer).toBe(run(data, theirs))
      expect((await bothWays('cancun', 1, data)).ours).toEqual({ gas: 3_000n, output: answer, error: undefined })
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

const P256_ORDER = p256.Point.Fn.ORDER
const P256_FIELD = p256.Point.Fp.ORDER

test('P256VERIFY judges signatures as EthereumJS does: either half of s, keys off the curve, edges of every number', async () => {
  const scalar = fc.bigInt(1n, P256_ORDER - 1n)
  const edge = fc.constantFrom(0n, 1n, P256_ORDER - 1n, P256_ORDER, P256_ORDER + 1n, P256_FIELD, 2n ** 256n - 1n)
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(scalar, fc.bigInt(0n, 2n ** 256n - 1n), edge, fc.nat(11), async (secret, any, other, way) => {
      const digest = way === 0 ? other : any
      const hash = word(digest)
      const signature = p256.Signature.fromBytes(p256.sign(hash, word(secret), { prehash: false, lowS: false }))
      const { x, y } = p256.Point.BASE.multiply(secret).toAffine()
      const numbers = [digest, signature.r, way === 1 ? P256_ORDER - signature.s : signature.s, x, y]
      if (way >= 2 && way <= 5) numbers[way - 1] = other
      if (way === 6) numbers[4] = P256_FIELD - y
      if (way === 7) numbers[0] = digest ^ 1n
      const data = concatBytes(...numbers.map(word))
      const { ours, theirs } = await bothWays(
        'osaka',
        0x100,
        way === 8 ? data.subarray(1) : data,
        way === 9 ? 6_899n : 6_900n,
      )
      expect(ours).toEqual(theirs)
      if (ours.output !== '0x') accepted++
    }),
    { seed: SEED, numRuns: 60 },
  )
  expect(accepted).toBeGreaterThan(15)
})

test('P256VERIFY where the two points are equal, opposite, or one is infinity', async () => {
  const verdicts: boolean[] = []
  const judge = async (digest: bigint, r: bigint, s: bigint, key: { readonly x: bigint; readonly y: bigint }) => {
    const data = concatBytes(word(digest), word(r), word(s), word(key.x), word(key.y))
    const { ours, theirs } = await bothWays('osaka', 0x100, data)
    expect(ours).toEqual(theirs)
    verdicts.push(ours.output !== '0x')
  }
  const { Fn } = p256.Point
  for (const secret of [1n, 2n, 12_345n, P256_ORDER - 1n]) {
    const key = p256.Point.BASE.multiply(secret).toAffine()
    // digest / r = +-secret, and 0: the key and the multiple of the generator are equal, opposite, and nothing is added.
    for (const factor of [secret, P256_ORDER - secret, 0n]) {
      const scalar = Fn.add(factor, secret)
      const nonce = 77n
      const r = Fn.create((p256.Point.BASE.multiply(nonce).toAffine() as { x: bigint }).x)
      const digest = Fn.mul(factor, r)
      // nonce = (digest + r secret) / s
      const s = scalar === 0n ? 5n : Fn.mul(Fn.mul(r, scalar), Fn.inv(nonce))
      await judge(digest, r, s, key)
    }
  }
  expect(verdicts.filter(Boolean)).toHaveLength(8)
})

test.each(EVM_FORKS)('%s: prices and results of zeros of any length are those of EthereumJS', async fork => {
  const sizes = [0, 1, 64, 96, 128, 160, 192, 213, 256, 288, 384, 512, 768, 160 * 5, 288 * 7, 160 * 140, 288 * 140]
  for (const number of ownNumbers(fork))
    for (const size of sizes) {
      const { ours, theirs } = await bothWays(fork, number, new Uint8Array(size))
      expect(ours, `${number} of ${size} bytes`).toEqual(theirs)
    }
})
