import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'
import { type CompiledContract, compileSolidity } from '../support/solidity.ts'
import { encodeCall, env, funded, GWEI, type Key, key, signed } from '../unit/evm/world.ts'
import { ZOO } from './executor-zoo.ts'

/* Random transactions over the zoo of contracts, from one seed. */

/** mulberry32 */
export const createRandom = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number): number => Math.floor(next() * below)
  return {
    int,
    chance: (of: number): boolean => int(of) === 0,
    pick: <T>(list: readonly T[]): T => list[int(list.length)] as T,
    bytes: (length: number): Uint8Array => Uint8Array.from({ length }, () => int(256)),
    /** Often small or next to a power of two, as bugs like them. */
    word: (): bigint => {
      if (int(2) === 0) return BigInt(int(40))
      const power = 2n ** BigInt(int(257))
      return (power + BigInt(int(5) - 2) + 2n ** 256n) % 2n ** 256n
    },
  }
}
export type Random = ReturnType<typeof createRandom>

const SIGNATURES = [
  'store(uint256,uint256,uint256)',
  'flip(uint256)',
  'fail(uint256)',
  'spin(uint256)',
  'deep(uint256)',
  'make(uint256)',
  'make2(uint256,bytes32)',
  'kill(address)',
  'brief(address,uint256)',
  'dying(address)',
  'selfKill(uint256)',
  'delegate(uint256)',
  'callcode(uint256)',
  'stat(uint256)',
  'transient(uint256,uint256)',
  'transientTwice(uint256,uint256)',
  'hashes(bytes32,uint256)',
  'precompile(uint256,uint256,bytes32)',
  'copies(uint256)',
  'look(address)',
  'pay(address,uint256)',
  'logs(uint256)',
  'nested(uint256)',
  'bigMemory(uint256)',
  'huge(uint256)',
  'arithmetic(uint256,uint256)',
] as const

export interface World {
  readonly random: Random
  readonly contracts: Readonly<Record<string, CompiledContract>>
  readonly keys: readonly Key[]
  readonly token: Hex
  readonly zoo: Hex
  /** Addresses worth calling or paying. */
  readonly known: Hex[]
}

type Plan = Partial<UnsignedTransaction>

const anyAddress = ({ random, known, keys }: World): Hex => {
  if (random.chance(6)) return toWord(random.word()).replace(/^0x.{24}/, '0x') as Hex
  if (random.chance(8)) return `0x${random.int(20).toString(16).padStart(40, '0')}`
  return random.chance(3) ? random.pick(keys).address : random.pick(known)
}

const argumentFor = (world: World, type: string): bigint =>
  type === 'address' ? BigInt(anyAddress(world)) : world.random.word()

const callPlan = (world: World): Plan => {
  const { random, token, zoo, keys } = world
  if (random.chance(4)) {
    const other = random.pick(keys).address
    const amount = BigInt(random.int(2_000))
    const data = random.pick([
      encodeCall('mint(address,uint256)', other, amount),
      encodeCall('transfer(address,uint256)', other, amount),
      encodeCall('approve(address,uint256)', other, amount),
      encodeCall('transferFrom(address,address,uint256)', random.pick(keys).address, other, amount),
    ])
    return { to: token, data }
  }
  const signature = random.pick(SIGNATURES)
  const types = signature.slice(signature.indexOf('(') + 1, -1).split(',')
  const data = encodeCall(signature, ...types.map(type => argumentFor(world, type)))
  return { to: zoo, data, value: random.chance(3) ? BigInt(random.int(5_000)) : 0n }
}

/** Random bytes as init code: mostly early ends and exceptions of every kind. */
const bytecodePlan = ({ random }: World): Plan => {
  const ops = [
    0x5f, 0x60, 0x80, 0x81, 0x90, 0x01, 0x03, 0x0a, 0x1b, 0x20, 0x34, 0x3d, 0x47, 0x51, 0x52, 0x53, 0x54, 0x55, 0x58,
    0x59, 0x5a, 0x5b, 0x56, 0x57, 0x5c, 0x5d, 0x5e, 0xa1, 0xf0, 0xf1, 0xf3, 0xf5, 0xfa, 0xfd, 0xff, 0x3e, 0x40, 0x44,
    0x0c, 0xfe,
  ]
  const program = Uint8Array.from({ length: 1 + random.int(160) }, () =>
    random.chance(9) ? random.int(256) : random.pick(ops),
  )
  return { to: null, data: program, value: random.chance(3) ? 3n : 0n }
}

const deployPlan = ({ random, contracts, token }: World): Plan => {
  const name = random.pick(['Child', 'Library', 'Dying', 'Token'])
  const argument = hexToBytes(toWord(random.chance(2) ? BigInt(random.int(9)) : BigInt(token)))
  const init = (contracts[name] as CompiledContract).bytecode
  return { to: null, data: concatBytes(init, argument), value: random.chance(3) ? 11n : 0n }
}

const accessListFor = ({ random, zoo, token }: World): UnsignedTransaction['accessList'] =>
  Array.from({ length: random.int(4) }, () => ({
    address: random.pick([zoo, token, `0x${'0'.repeat(39)}4` as Hex]),
    storageKeys: Array.from({ length: random.int(3) }, () => toWord(BigInt(random.int(6)))),
  }))

const planTransaction = (world: World): Plan => {
  const { random } = world
  const kind = random.int(20)
  if (kind < 4) return { to: anyAddress(world), value: BigInt(random.int(3) * 1_000) }
  if (kind < 15) return callPlan(world)
  return kind < 18 ? deployPlan(world) : bytecodePlan(world)
}

const feesFor = ({ random }: World): Plan => {
  const type = random.int(3) as 0 | 1 | 2
  if (type !== 2) {
    const price = BigInt(random.pick([25, 27, 30, 750])) * GWEI
    return { type, maxFeePerGas: price, maxPriorityFeePerGas: price }
  }
  return { type, maxFeePerGas: BigInt(25 + random.int(10)) * GWEI, maxPriorityFeePerGas: BigInt(random.int(12)) * GWEI }
}

/** Mostly enough, sometimes far above the bound on one transaction, sometimes just too little. */
const gasFor = ({ random }: World, data: Uint8Array): bigint => {
  const base = 21_000 + data.byteLength * 100 + 40_000
  if (random.chance(12)) return 130_000_000n
  if (random.chance(5)) return BigInt(base + random.int(60_000))
  return BigInt(base + 400_000 + random.int(2_500_000))
}

export const setUpZoo = async (random: Random) => {
  const contracts = compileSolidity(ZOO)
  const keys = Array.from({ length: 12 }, (_, i) => key(i + 1))
  const owner = key(99)
  const bytecodeOf = (name: string): Uint8Array => (contracts[name] as CompiledContract).bytecode
  const at = (nonce: number): Hex => createAddress(owner.address, nonce)
  const zooInit = concatBytes(bytecodeOf('Zoo'), hexToBytes(toWord(BigInt(at(0)))))
  const deploys = [bytecodeOf('Library'), bytecodeOf('Token'), zooInit].map((data, nonce) =>
    signed(owner, { nonce, data, gasLimit: 8_000_000n, value: nonce === 2 ? 1_000_000n : 0n }),
  )
  const known = [at(0), at(1), at(2), env().miner, env().foundation]
  const world: World = { random, contracts, keys, token: at(1), zoo: at(2), known }
  return { world, deploys, state: funded([...keys, owner]) }
}

export const randomTransactions = (world: World, nonces: Map<Hex, number>, size: number): Transaction[] =>
  Array.from({ length: size }, () => {
    const from = world.random.pick(world.keys)
    const plan = planTransaction(world)
    const accessList = accessListFor(world)
    const fees = feesFor(world)
    const nonce = nonces.get(from.address) ?? 0
    nonces.set(from.address, nonce + 1)
    const gasLimit = gasFor(world, plan.data ?? new Uint8Array(0)) + BigInt(accessList.length * 8_500)
    const tx = signed(from, { ...plan, ...fees, nonce, gasLimit, accessList: fees.type === 0 ? [] : accessList })
    if (tx.to === null) world.known.push(createAddress(tx.from, nonce))
    return tx
  })
