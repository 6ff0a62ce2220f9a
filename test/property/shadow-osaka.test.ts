import { createHash } from 'node:crypto'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { p256 } from '@noble/curves/nist.js'
import { bigintToBytes, concatBytes, type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { NETWORKS } from '../../src/config/networks.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { sign } from '../../src/crypto/signature.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import { encodeRlp } from '../../src/primitives/rlp/rlp.ts'
import { delegationTarget } from '../../src/primitives/transaction/delegation.ts'
import type { Authorization, Transaction } from '../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { SEED } from '../support/seed.ts'
import { ample, env, type Key, key, listSource, signed } from '../unit/evm/world.ts'
import { createRandom, type Random, randomTransactions, setUpZoo } from './executor-plans.ts'

/*
 * What came with Prague and Osaka on random blocks in shadow mode, where the VM of EthereumJS, with its own precompiles, comes to the same or the
 * block stops: delegations of accounts that call, are called and pay, and each precompile with arguments that hold and that hardly do not. COUNT=
 * for a longer run, SEED= for another one.
 */
const COUNT = Number(process.env['COUNT'] ?? 200)
const PER_BLOCK = 25
const CHAIN = BigInt(NETWORKS.devnet.chainId)

const word = (value: bigint): Uint8Array => hexToBytes(toWord(value))
const wide = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(128, '0')}`)
const { G1, G2 } = bls12_381
const g1 = (n: bigint): Uint8Array => {
  if (n === 0n) return new Uint8Array(128)
  const { x, y } = G1.Point.BASE.multiply(n).toAffine()
  return concatBytes(wide(x), wide(y))
}
const g2 = (n: bigint): Uint8Array => {
  if (n === 0n) return new Uint8Array(256)
  const { x, y } = G2.Point.BASE.multiply(n).toAffine()
  return concatBytes(wide(x.c0), wide(x.c1), wide(y.c0), wide(y.c1))
}
const bn = (n: bigint): Uint8Array => {
  if (n === 0n) return new Uint8Array(64)
  const { x, y } = bn254.G1.Point.BASE.multiply(n).toAffine()
  return concatBytes(word(x), word(y))
}

/** Arguments that hold, by the address of the precompile. */
const argumentsOf: Readonly<Record<number, (random: Random) => Uint8Array>> = {
  1: random => {
    const digest = random.bytes(32)
    const signature = sign(digest, key(1 + random.int(12)).secret)
    return concatBytes(digest, word(27n + BigInt(signature[64] as number)), signature.subarray(0, 64))
  },
  2: random => random.bytes(random.int(300)),
  3: random => random.bytes(random.int(300)),
  4: random => random.bytes(random.int(300)),
  5: random => {
    const lengths = [random.int(40), random.int(20), random.int(40)] as const
    return concatBytes(...lengths.map(n => word(BigInt(n))), ...lengths.map(n => random.bytes(n)))
  },
  6: random => concatBytes(bn(BigInt(random.int(9))), bn(BigInt(random.int(9)))),
  7: random => concatBytes(bn(BigInt(random.int(9))), word(random.word())),
  8: random => concatBytes(bn(BigInt(random.int(3))), new Uint8Array(128)),
  9: random => concatBytes(Uint8Array.of(0, 0, 0, random.int(30)), random.bytes(208), Uint8Array.of(random.int(2))),
  10: random => {
    // A constant polynomial: its opening is infinity everywhere.
    const value = BigInt(random.int(5))
    const point = value === 0n ? G1.Point.ZERO : G1.Point.BASE.multiply(value)
    const hash = createHash('sha256').update(point.toBytes()).digest()
    hash[0] = 1
    return concatBytes(hash, word(BigInt(random.int(99))), word(value), point.toBytes(), G1.Point.ZERO.toBytes())
  },
  11: random => concatBytes(g1(BigInt(random.int(9))), g1(BigInt(random.int(9)))),
  12: random => concatBytes(g1(BigInt(random.int(9))), word(random.word()), g1(2n), word(random.word())),
  13: random => concatBytes(g2(BigInt(random.int(9))), g2(BigInt(random.int(9)))),
  14: random => concatBytes(g2(BigInt(random.int(9))), word(random.word())),
  15: random => concatBytes(g1(BigInt(random.int(3))), g2(BigInt(random.int(3)))),
  16: random => wide(random.word()),
  17: random => concatBytes(wide(random.word()), wide(random.word())),
  256: random => {
    const [digest, secret] = [random.bytes(32), word(BigInt(1 + random.int(99)))]
    const { x, y } = p256.Point.fromBytes(p256.getPublicKey(secret)).toAffine()
    return concatBytes(digest, p256.sign(digest, secret, { prehash: false }), word(x), word(y))
  },
}
const PRECOMPILES = Object.keys(argumentsOf).map(Number)

/** Sometimes with a bit that is wrong, or cut. */
const damaged = (random: Random, data: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(data)
  const at = random.int(copy.length)
  if (random.chance(4) && copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << random.int(8))
  return random.chance(12) ? copy.subarray(0, random.int(copy.length + 1)) : copy
}

const authorization = ({ secret }: Key, address: Hex, nonce: bigint, chainId: bigint): Authorization => {
  const payload = encodeRlp([bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)])
  const signature = sign(keccak256(concatBytes(Uint8Array.of(5), payload)), secret)
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32, 64)]
  return { chainId, address, nonce, yParity: signature[64] as number, r, s }
}

test(
  `${COUNT} random transactions of Prague and Osaka agree with the VM of EthereumJS (SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED)
    const { world, deploys, state } = await setUpZoo(random)
    const executor = createExecutor({ mode: 'shadow', logger: silentLogger })
    const authorities = Array.from({ length: 5 }, (_, i) => key(200 + i))
    world.known.push(...authorities.map(({ address }) => address))
    const targets = [world.zoo, world.token, ZERO_ADDRESS, `0x${'0'.repeat(39)}5` as Hex, ...world.known]
    const nonces = new Map<Hex, number>()
    let before = state
    const nonceOf = (address: Hex): number => Number(before.account(address)?.nonce ?? 0)

    const take = (from: Key): number => {
      const nonce = nonces.get(from.address) ?? 0
      nonces.set(from.address, nonce + 1)
      return nonce
    }
    const precompile = (): Transaction => {
      const from = random.pick(world.keys)
      const which = random.pick(PRECOMPILES)
      const data = damaged(random, (argumentsOf[which] as (random: Random) => Uint8Array)(random))
      const to: Hex = `0x${which.toString(16).padStart(40, '0')}`
      return signed(from, { nonce: take(from), to, data, gasLimit: 1_000_000n, value: BigInt(random.int(2)) })
    }
    const delegating = (): Transaction => {
      const from = random.pick(world.keys)
      const nonce = take(from)
      const list = Array.from({ length: 1 + random.int(3) }, () => {
        const chainId = random.chance(8) ? 5n : random.chance(3) ? 0n : CHAIN
        // A used nonce or one too high now and then; the sender's own is one further.
        if (!random.chance(5)) {
          const by = random.pick(authorities)
          return authorization(
            by,
            random.pick(targets),
            BigInt(nonceOf(by.address) + (random.chance(5) ? 1 : 0)),
            chainId,
          )
        }
        if (chainId !== 5n) nonces.set(from.address, (nonces.get(from.address) as number) + 1)
        return authorization(from, random.pick(targets), BigInt((nonces.get(from.address) as number) - 1), chainId)
      })
      const [plan] = randomTransactions(world, new Map(), 1) as [Transaction]
      const to = random.chance(2) ? random.pick(authorities).address : (plan.to ?? world.zoo)
      const fees = { maxFeePerGas: 60n * 10n ** 9n, maxPriorityFeePerGas: BigInt(random.int(3)) }
      const rest = { to, data: plan.data, gasLimit: 2_000_000n, authorizationList: list }
      return signed(from, { type: 4, nonce, ...fees, ...rest })
    }

    let [done, delegated, answered] = [0, 0, 0]
    for (let number = 1_000; done < COUNT; number++) {
      const make = () =>
        random.chance(3) ? precompile() : random.chance(2) ? delegating() : randomTransactions(world, nonces, 1)
      const transactions = number === 1_000 ? deploys : Array.from({ length: PER_BLOCK }, make).flat()
      const journal = new Journal(before)
      const block = env({ number, timestamp: number * 2 })
      const built = await executor.build(journal, block, listSource(transactions), ample, [])
      before = before.with(journal.changes())
      for (const { from } of transactions) nonces.set(from, nonceOf(from))
      if (number > 1_000) done += built.transactions.length
      delegated += authorities.filter(({ address }) => delegationTarget(journal.code(address)) !== undefined).length
      answered += built.transactions.filter(
        ({ to }, at) => PRECOMPILES.includes(Number(to)) && built.receipts[at]?.status === 1,
      ).length
    }
    expect(delegated).toBeGreaterThan(COUNT / PER_BLOCK)
    expect(answered).toBeGreaterThan(COUNT / 20)
  },
  24 * 3_600_000,
)
