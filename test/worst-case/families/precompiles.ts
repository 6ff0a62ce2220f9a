import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { sign } from '../../../src/crypto/signature.ts'
import { asm, LOAD_INPUT, loop, program, repeat, unrolled } from '../assembler.ts'
import { type Axes, callOf, family, type Genes } from '../family.ts'

/* Loops over one precompile: the input stands in memory, and memory behind it is zero. */

const words = (...values: readonly bigint[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(value))))
const filled = (size: number, byte = 0xff): Uint8Array => new Uint8Array(size).fill(byte)
const hex = (digits: string): Uint8Array => hexToBytes(`0x${digits}`)

interface Input {
  readonly data: Uint8Array
  /** Bytes passed on; more than the data: zeros. */
  readonly size?: number
}

const precompile = <const A extends Axes>(
  name: string,
  address: number,
  axes: A,
  input: (genes: Genes<A>) => Input,
  fork: EvmFork = 'cancun',
) =>
  family({
    kind: `precompile ${name}`,
    name,
    axes,
    build(genes) {
      const { data, size = data.byteLength } = input(genes as Genes<A>)
      const call = asm(`0 0 ${size} 0 ${address} GAS STATICCALL POP`)
      return { ...callOf(program(LOAD_INPUT, loop(unrolled(call), 30_000n)), [], data), fork }
    },
  })

const SIZES = [0, 1, 32, 64, 200, 1_024, 16_384, 131_072, 1 << 20] as const
const digest = keccak256(Uint8Array.of(1))
const signature = sign(digest, filled(32, 1))
const RECOVERABLE = concatBytes(digest, words(27n + BigInt(signature[64] as number)), signature.subarray(0, 64))

const modexpInput = ({ base, exponent, modulus, head, tail, isEven }: Record<string, number>): Input => {
  const [b, e, m] = [base as number, exponent as number, modulus as number]
  const divisor = filled(m)
  if (isEven === 1 && m > 0) divisor[m - 1] = 0xfe
  const power = concatBytes(filled(Math.min(e, 32), head), filled(Math.max(0, e - 32), tail))
  return { data: concatBytes(words(BigInt(b), BigInt(e), BigInt(m)), filled(b, 0xfe), power, divisor) }
}
const MODEXP = {
  base: [0, 1, 8, 16, 24, 32, 33, 40, 64, 128, 192, 256, 512, 1_024, 4_096],
  exponent: [0, 1, 2, 4, 8, 16, 32, 33, 40, 64, 128, 256, 512, 1_024, 2_048, 8_192],
  modulus: [1, 8, 16, 24, 32, 33, 40, 64, 128, 192, 256, 512, 1_024, 4_096],
  head: [0xff, 0, 1, 0x80],
  tail: [0xff, 0],
  isEven: [0, 1],
} as const

const G2 = [
  0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2n,
  0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6edn,
  0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975bn,
  0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daan,
]
const BN_PAIRS: Readonly<Record<string, Uint8Array>> = {
  generators: words(1n, 2n, ...G2),
  'infinity left': concatBytes(new Uint8Array(64), words(...G2)),
  'infinity right': concatBytes(words(1n, 2n), new Uint8Array(128)),
}

const BLS_G1 = `${'0'.repeat(32)}17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb${'0'.repeat(32)}08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1`
const BLS_G2 = `${'0'.repeat(32)}024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8${'0'.repeat(32)}13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e${'0'.repeat(32)}0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801${'0'.repeat(32)}0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be`
const field = (byte: string): string => `${'0'.repeat(32)}0${byte.repeat(95)}`
const POINTS = [1, 2, 4, 16, 64, 128]
const msm = (point: string, points: number): Input => ({ data: repeat(points, hex(`${point}73${'e'.repeat(62)}`)) })

/** The sample of RFC 6979 A.2.5 with its key. */
const P256 = hex(
  'af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bfefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda860fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
)

const blake = ({ rounds, isWhole }: Record<string, number>): Input => ({
  data: concatBytes(
    hexToBytes(`0x${(rounds as number).toString(16).padStart(8, '0')}` as Hex),
    filled(208),
    Uint8Array.of(1),
  ),
  size: isWhole === 1 ? 213 : 212,
})

/** Calls with too little gas for most of them, which consume just that; inputs may be longer than any that is read. */
const unpaid = family({
  kind: 'precompiles that are not paid',
  name: 'precompiles that are not paid',
  axes: {
    address: [1, 2, 3, 5, 6, 7, 8, 9, 0x0b, 0x0c, 0x0f, 0x10, 0x100],
    size: [0, 96, 212, 213, 384, 512, 16_384, 1 << 18],
    gas: [0, 1, 100, 1_500, 4_000, 18_000],
  },
  build: ({ address, size, gas }) => ({
    ...callOf(program(LOAD_INPUT, loop(unrolled(asm(`0 0 ${size} 0 ${address} ${gas} STATICCALL POP`)), 30_000n))),
    fork: 'osaka',
  }),
})

export const PRECOMPILE_FAMILIES = [
  unpaid,
  precompile('ecrecover', 1, { valid: [1, 0] }, ({ valid }) => ({ data: valid === 1 ? RECOVERABLE : filled(128) })),
  precompile('sha256', 2, { size: SIZES }, ({ size }) => ({ data: EMPTY_BYTES, size })),
  precompile('ripemd160', 3, { size: SIZES }, ({ size }) => ({ data: EMPTY_BYTES, size })),
  precompile('identity', 4, { size: SIZES }, ({ size }) => ({ data: EMPTY_BYTES, size })),
  precompile('modexp', 5, MODEXP, modexpInput as (genes: Genes<typeof MODEXP>) => Input),
  precompile('modexp of Osaka', 5, MODEXP, modexpInput as (genes: Genes<typeof MODEXP>) => Input, 'osaka'),
  precompile('bn254 add', 6, { second: [2, 3] }, ({ second }) => ({
    data: words(
      1n,
      2n,
      1n,
      second === 2 ? 2n : 21888242871839275222246405745257275088696311157297823662689037894645226208581n,
    ),
  })),
  precompile('bn254 multiply', 7, { factor: [0xff, 0, 1] }, ({ factor }) => ({
    data: concatBytes(words(1n, 2n), filled(32, factor)),
  })),
  precompile('bn254 pairing', 8, { pair: Object.keys(BN_PAIRS), pairs: [0, 1, 2, 16, 64] }, ({ pair, pairs }) => ({
    data: repeat(pairs, BN_PAIRS[pair] as Uint8Array),
  })),
  precompile('blake2f', 9, { rounds: [0, 1, 12, 1_000, 100_000], isWhole: [1, 0] }, blake),
  precompile('bls12-381 g1 add', 0x0b, { one: [1] }, () => ({ data: hex(BLS_G1 + BLS_G1) }), 'prague'),
  precompile('bls12-381 g1 msm', 0x0c, { points: POINTS }, ({ points }) => msm(BLS_G1, points), 'prague'),
  precompile('bls12-381 g2 add', 0x0d, { one: [1] }, () => ({ data: hex(BLS_G2 + BLS_G2) }), 'prague'),
  precompile('bls12-381 g2 msm', 0x0e, { points: POINTS }, ({ points }) => msm(BLS_G2, points), 'prague'),
  precompile(
    'bls12-381 pairing',
    0x0f,
    { pairs: [1, 2, 4, 16, 32] },
    ({ pairs }) => ({ data: repeat(pairs, hex(BLS_G1 + BLS_G2)) }),
    'prague',
  ),
  precompile('bls12-381 map fp', 0x10, { one: [1] }, () => ({ data: hex(field('7')) }), 'prague'),
  precompile('bls12-381 map fp2', 0x11, { one: [1] }, () => ({ data: hex(field('7') + field('9')) }), 'prague'),
  precompile(
    'p256verify',
    0x100,
    { valid: [1, 0] },
    ({ valid }) => ({ data: valid === 1 ? P256 : filled(160) }),
    'osaka',
  ),
]
