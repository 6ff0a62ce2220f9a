/**
 * Gas per millisecond of processor time of each precompile with its slowest input, beside expensive opcodes; a JSON line each.
 * `heldMs` is the longest time the thread was held without giving way to the event loop.
 *   node bench/precompiles.ts [--gas N] [NAME...]
 */
import { cpuUsage } from 'node:process'
import { parseArgs } from 'node:util'
import { concatBytes, EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { keccak256, keccak256Hex } from '../src/crypto/hash.ts'
import { sign } from '../src/crypto/signature.ts'
import type { BlockEnv } from '../src/evm/block-env.ts'
import { loadEngine } from '../src/evm/engines/select-engine.ts'
import { Journal } from '../src/state/journal/journal.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { gas: { type: 'string', default: '5000000' } },
})

const words = (...values: readonly (bigint | Hex)[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(BigInt(value)))))
const filled = (size: number, byte = 0xff): Uint8Array => new Uint8Array(size).fill(byte)
const repeat = (count: number, bytes: Uint8Array): Uint8Array =>
  concatBytes(...Array.from({ length: count }, () => bytes))

/** A contract that copies its call data into memory, then does `body` until its gas is gone. */
const looping = (body: string): Uint8Array => hexToBytes(`0x365f5f375b${body}600456`)
/** STATICCALL with `size` bytes of memory, all of its gas, the answer dropped. */
const calling = (address: number, size: number): Uint8Array =>
  looping(`5f5f63${size.toString(16).padStart(8, '0')}5f61${address.toString(16).padStart(4, '0')}5afa50`)

interface Case {
  readonly code: Uint8Array
  readonly data: Uint8Array
  readonly fork?: 'prague' | 'osaka'
}

const opcode = (body: string, data: Uint8Array = EMPTY_BYTES): Case => ({ code: looping(body), data })
/** `size` may exceed the input: memory is zero behind it. */
const precompile = (address: number, data: Uint8Array, size = data.byteLength, fork?: Case['fork']): Case => ({
  code: calling(address, size),
  data,
  ...(fork && { fork }),
})

const modexp = (base: number, exponent: number, modulus: Uint8Array, given = Math.min(exponent, 32)): Case =>
  precompile(
    5,
    concatBytes(
      words(BigInt(base), BigInt(exponent), BigInt(modulus.byteLength)),
      filled(base, 0xfe),
      filled(given),
      new Uint8Array(exponent - given),
      modulus,
    ),
  )
const even = (size: number): Uint8Array => {
  const modulus = filled(size)
  modulus[size - 1] = 0xfe
  return modulus
}

const BN_G2: readonly Hex[] = [
  '0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2',
  '0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed',
  '0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b',
  '0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
]
const BN_PAIR = words(1n, 2n, ...BN_G2)
const BN_P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n

const BLS_G1 = `${'0'.repeat(32)}17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb${'0'.repeat(32)}08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1`
const BLS_G2 = `${'0'.repeat(32)}024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8${'0'.repeat(32)}13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e${'0'.repeat(32)}0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801${'0'.repeat(32)}0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be`
const hex = (digits: string): Uint8Array => hexToBytes(`0x${digits}`)
const field = (byte: string): string => `${'0'.repeat(32)}0${byte.repeat(95)}`
const blsMsm = (point: string, pairs: number): Uint8Array => repeat(pairs, hex(`${point}73${'e'.repeat(62)}`))

const digest = keccak256(Uint8Array.of(1))
const signature = sign(digest, filled(32, 1))
/** The sample of RFC 6979 A.2.5 with its key. */
const P256 = hex(
  'af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bfefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda860fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299',
)

const CASES: Readonly<Record<string, Case>> = {
  'opcode jumpdest': opcode('5b'.repeat(200)),
  'opcode add': opcode('5f5f0150'.repeat(50)),
  'opcode dup': opcode('5f80905050'.repeat(50)),
  'opcode mulmod': opcode('5f196005196007190950'.repeat(30)),
  'opcode sdiv': opcode('5f19600519900550'.repeat(30)),
  'opcode exp': opcode('5f1963fffffffe0a50'.repeat(20)),
  'opcode sload warm': opcode('60035450'.repeat(50)),
  'opcode sload cold': opcode('5a5450'.repeat(50)),
  'opcode keccak': opcode('60205f2050'.repeat(50)),
  'opcode balance cold': opcode('5a3150'.repeat(50)),
  'opcode mcopy': opcode('600160205f5e'.repeat(50)),
  'opcode tstore': opcode('600160035d'.repeat(50)),
  'opcode call empty account': opcode('5f5f5f5f5f61beef5af150'),
  'opcode call itself': opcode('5f5f5f5f61c0de6064fa50'),
  'opcode create': opcode('5f5f5ff050'),
  ecrecover: precompile(
    1,
    concatBytes(digest, words(27n + BigInt(signature[64] as number)), signature.subarray(0, 64)),
  ),
  'sha256 empty': precompile(2, EMPTY_BYTES),
  'sha256 64k': precompile(2, EMPTY_BYTES, 65_536),
  'sha256 1m': precompile(2, EMPTY_BYTES, 1 << 20),
  'ripemd160 empty': precompile(3, EMPTY_BYTES),
  'ripemd160 64k': precompile(3, EMPTY_BYTES, 65_536),
  'ripemd160 1m': precompile(3, EMPTY_BYTES, 1 << 20),
  'identity empty': precompile(4, EMPTY_BYTES),
  'identity 1m': precompile(4, EMPTY_BYTES, 1 << 20),
  'modexp 0/0/0': precompile(5, EMPTY_BYTES),
  'modexp 1/32/1': modexp(1, 32, filled(1)),
  'modexp 8/32/8': modexp(8, 32, filled(8)),
  'modexp 24/32/24': modexp(24, 32, filled(24)),
  'modexp 32/32/32': modexp(32, 32, filled(32)),
  'modexp 32/32/32 even': modexp(32, 32, even(32)),
  'modexp 192/1/192': modexp(192, 1, filled(192)),
  'modexp 8/512/8': modexp(8, 512, filled(8), 512),
  'modexp 8/8k/8': modexp(8, 8_192, filled(8), 8_192),
  'modexp 8/8k/8 even': modexp(8, 8_192, even(8), 8_192),
  'modexp 16/2k/16': modexp(16, 2_048, filled(16), 2_048),
  'modexp 32/1k/32': modexp(32, 1_024, filled(32), 1_024),
  'modexp 40/1k/40': modexp(40, 1_024, filled(40), 1_024),
  'modexp 256/256/256': modexp(256, 256, filled(256), 256),
  'modexp 256/256/256 even': modexp(256, 256, even(256), 256),
  'modexp 1k/64/1k': modexp(1_024, 64, filled(1_024), 64),
  'modexp 1k/64/1k even': modexp(1_024, 64, even(1_024), 64),
  'modexp 4k/1/4k': modexp(4_096, 1, filled(4_096)),
  'modexp 16k/1/16k': modexp(16_384, 1, filled(16_384)),
  'bn254 add': precompile(6, words(1n, 2n, 1n, BN_P - 2n)),
  'bn254 add double': precompile(6, words(1n, 2n, 1n, 2n)),
  'bn254 mul': precompile(7, concatBytes(words(1n, 2n), filled(32))),
  'bn254 pairing 0': precompile(8, EMPTY_BYTES),
  'bn254 pairing 1': precompile(8, BN_PAIR),
  'bn254 pairing 2': precompile(8, repeat(2, BN_PAIR)),
  'bn254 pairing 64': precompile(8, repeat(64, BN_PAIR)),
  'bn254 pairing 64 infinity': precompile(8, repeat(64, concatBytes(new Uint8Array(64), words(...BN_G2)))),
  'blake2 1m': precompile(9, concatBytes(Uint8Array.of(0, 15, 0, 0), filled(208), Uint8Array.of(1))),
  'bls g1 add': precompile(0x0b, hex(BLS_G1 + BLS_G1), undefined, 'prague'),
  'bls g1 msm 1': precompile(0x0c, blsMsm(BLS_G1, 1), undefined, 'prague'),
  'bls g1 msm 128': precompile(0x0c, blsMsm(BLS_G1, 128), undefined, 'prague'),
  'bls g2 add': precompile(0x0d, hex(BLS_G2 + BLS_G2), undefined, 'prague'),
  'bls g2 msm 1': precompile(0x0e, blsMsm(BLS_G2, 1), undefined, 'prague'),
  'bls g2 msm 128': precompile(0x0e, blsMsm(BLS_G2, 128), undefined, 'prague'),
  'bls pairing 1': precompile(0x0f, hex(BLS_G1 + BLS_G2), undefined, 'prague'),
  'bls pairing 32': precompile(0x0f, repeat(32, hex(BLS_G1 + BLS_G2)), undefined, 'prague'),
  'bls map fp': precompile(0x10, hex(field('7')), undefined, 'prague'),
  'bls map fp2': precompile(0x11, hex(field('7') + field('9')), undefined, 'prague'),
  p256verify: precompile(0x100, P256, undefined, 'osaka'),
}

const CALLER: Hex = `0x${'11'.repeat(20)}`
const CONTRACT: Hex = `0x${'c0de'.padStart(40, '0')}`

const envOf = (fork: Case['fork']): BlockEnv => ({
  params:
    fork === undefined
      ? NETWORKS.devnet
      : {
          ...NETWORKS.devnet,
          forks: NETWORKS.devnet.forks.map(f => (f.name === 'prague' || f.name === fork ? { ...f, height: 0 } : f)),
        },
  number: 1_000,
  timestamp: 1_700_000_000,
  gasLimit: 999_999_999_999n,
  baseFeePerGas: 0n,
  miner: CALLER,
  proposerReward: CALLER,
  foundation: CALLER,
  prevRandao: ZERO_HASH,
  blockHash: () => ZERO_HASH,
})

const engine = await loadEngine('wasm')

const measure = async ({ code, data, fork }: Case, gas: bigint) => {
  const codeHash = keccak256Hex(code)
  const account = { nonce: 1, balance: 0n, codeHash, storageRoot: ZERO_HASH }
  const journal = new Journal({
    account: who => (who === CONTRACT ? account : undefined),
    storage: () => ZERO_HASH,
    code: () => code,
  })
  let [heldMs, lastMs] = [0, performance.now()]
  const startCpu = cpuUsage()
  const note = (): void => {
    const nowMs = performance.now()
    heldMs = Math.max(heldMs, nowMs - lastMs)
    lastMs = nowMs
  }
  const interrupt = {
    sliceMs: 10,
    giveWay: async () => {
      note()
      await new Promise(resolve => setImmediate(resolve))
      lastMs = performance.now()
    },
    shouldStop: () => false,
  }
  const message = { from: CALLER, to: CONTRACT, value: 0n, data, gas, gasPrice: 0n, accessList: [] }
  const { gasUsed } = await engine.run(journal, envOf(fork), message, { interrupt })
  note()
  const { user, system } = cpuUsage(startCpu)
  const ms = (user + system) / 1_000
  return { gasPerMs: Math.round(Number(gasUsed) / ms), ms: Math.round(ms), heldMs: Math.round(heldMs * 10) / 10 }
}

const gas = BigInt(options.gas)
for (const [name, subject] of Object.entries(CASES)) {
  if (positionals.length > 0 && !positionals.some(wanted => name.startsWith(wanted))) continue
  await measure(subject, gas / 10n)
  console.log(JSON.stringify({ name, ...(await measure(subject, gas)) }))
}
