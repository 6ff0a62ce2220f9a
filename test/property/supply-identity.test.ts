import { EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import type { Genesis } from '../../src/config/genesis/genesis.ts'
import { COUNCIL_ADDRESS } from '../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { encodeProofHeader } from '../../src/primitives/proof-header.ts'
import { splitFees } from '../../src/rules/money/fees.ts'
import { mintedAt } from '../../src/rules/money/rewards.ts'
import { decodeAccount } from '../../src/state/account.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import { ACCOUNT_KEYS, ACCOUNTS, signedRaw, type TestChain } from '../support/chain.ts'
import { encodeCouncilCall } from '../support/council-contract.ts'
import { councilGenesis, FOUNDATION, validatorKey, validatorOf } from '../support/council-genesis.ts'
import { CouncilNet } from '../support/council-net.ts'
import { solved } from '../support/powchain/proof-chain.ts'
import { SEED } from '../support/seed.ts'

/** `IDENTITY_BLOCKS=10000` is the long form. */
const BLOCKS = Number(process.env['IDENTITY_BLOCKS'] ?? 80)
const VALIDATORS = 10
/** Enough remain for a committee that tolerates one of them. */
const JAILED = 5
const CYCLE = 10
/** Blocks of one period of minting; after 160 of them nothing is minted any more. */
const ERA = 50
/** Proof height of the second hash function. */
const FORK = Math.min(60, BLOCKS / 20)
const PROOF_CHANCE = 0.17
const MINERS = [0x31, 0x32, 0x33, 0x34].map((byte): Hex => `0x${byte.toString(16).repeat(20)}`)
/** ADDRESS SELFDESTRUCT as init code: its value belongs to nobody afterwards. */
const BURNER = hexToBytes('0x30ff')
/** Reverts with what it was given. */
const REVERTER = hexToBytes('0x5f5ffd')

const genesis = (): Genesis => {
  const council = { openRegistration: true, unbondingSeconds: 0, evidenceBlocks: 1_000 }
  const parsed = councilGenesis(VALIDATORS, { rewards: { cycleBlocks: CYCLE, halvingBlocks: ERA }, council })
  const forks = parsed.params.forks.map(fork => (fork.name === 'nativeHash' ? { ...fork, height: FORK } : fork))
  return { ...parsed, params: { ...parsed.params, forks } }
}

/** Sum of all balances, by the table of accounts: nobody can be forgotten. */
const sumOfBalances = async ({ store }: TestChain): Promise<bigint> => {
  let sum = 0n
  for await (const [, row] of store.entries(BUCKETS.account)) sum += decodeAccount(row).balance
  return sum
}

const recipient = (random: Random): Hex => {
  const fresh = (): Hex => `0x${random.below(100).toString(16).padStart(40, 'c')}`
  return random.pick([random.pick(ACCOUNTS), random.pick(MINERS), FOUNDATION, fresh()])
}

/** Transactions of one account, and the wei that they burn beyond their fees if they succeed. */
const randomTransaction = (random: Random, key: Uint8Array, nonce: number) => {
  const wei = BigInt(random.below(1_000_000))
  const tip = BigInt(random.below(5)) * 10n ** 9n
  const price = { maxFeePerGas: 60_000_000_000n, maxPriorityFeePerGas: tip }
  const plain = { nonce, ...price, type: 2 as const, gasLimit: 300_000n }
  const made = random.pick([
    { fields: { to: recipient(random), value: wei }, burns: 0n },
    { fields: { to: recipient(random), value: wei }, burns: 0n },
    { fields: { to: null, data: BURNER, value: wei }, burns: wei },
    { fields: { to: null, data: REVERTER, value: wei }, burns: 0n },
    {
      fields: { to: COUNCIL_ADDRESS, value: wei, data: hexToBytes(encodeCouncilCall('requestExit', [ACCOUNTS[0]])) },
      burns: 0n,
    },
    {
      fields: { type: 0 as const, to: recipient(random), value: wei, gasLimit: 21_000n, data: EMPTY_BYTES },
      burns: 0n,
    },
  ])
  return { raw: signedRaw(key, { ...plain, ...made.fields }), burns: made.burns }
}

const sendSome = async (net: CouncilNet, random: Random, burns: Map<Hex, bigint>): Promise<void> => {
  const { service } = net.first.pool
  for (const key of ACCOUNT_KEYS) {
    const first = Number(service.nextNonce(addressFromPrivateKey(key)))
    for (let count = random.below(3), at = 0; at < count; at++) {
      const { raw, burns: wei } = randomTransaction(random, key, first + at)
      burns.set(await service.submit(raw), wei)
      for (const chain of net.chains.slice(1)) await chain.pool.service.submit(raw)
    }
  }
}

/** Evidence against a member of the committee of the head that is not jailed yet. */
const accuseOne = (net: CouncilNet, offenders: readonly number[]): void => {
  const [offender] = offenders
  if (offender === undefined || !net.committee(net.number).members.includes(validatorOf(offender))) return
  const evidence = net.doublePrepare(net.number, validatorKey(offender), validatorOf(offender))
  for (const { evidence: pool } of net.chains) pool.report(evidence)
}

const findProof = async (net: CouncilNet, random: Random): Promise<void> => {
  const header = await solved(net.first, { coinbase: random.pick(MINERS) })
  for (const chain of net.chains) await chain.proofPool.submit(encodeProofHeader(header), chain.clock.ms)
}

/** Wei that the transactions of a block burnt: half of their fees and what the floors leave, and what destroyed contracts held. */
const burntIn = async (chain: TestChain, number: number, burns: ReadonlyMap<Hex, bigint>): Promise<bigint> => {
  const [block, receipts = []] = await Promise.all([chain.blocks.block(number), chain.blocks.receipts(number)])
  const fees = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const destroyed = receipts.map(({ status }, at) =>
    status === 1 ? (burns.get(block?.transactions[at]?.hash as Hex) ?? 0n) : 0n,
  )
  return splitFees(fees, chain.genesis.params.feeShares).burnt + destroyed.reduce((sum, wei) => sum + wei, 0n)
}

test(`${BLOCKS} blocks with transactions, jailings, both hashes and many periods: all balances are genesis and minted less burnt, SEED=${SEED}`, async () => {
  const random = createRandom(SEED)
  const net = await CouncilNet.open(genesis(), 2)
  try {
    const { first } = net
    const { rewards } = first.genesis.params
    const genesisWei = await sumOfBalances(first)
    const burns = new Map<Hex, bigint>()
    const seen = { proofs: 0, jailed: 0, transactions: 0 }
    let [minted, burnt] = [0n, 0n]
    for (let number = 1; number <= BLOCKS; number++) {
      await sendSome(net, random, burns)
      if (random.chance(PROOF_CHANCE)) await findProof(net, random)
      const jailable = Array.from({ length: JAILED }, (_, at) => at).filter(
        at => first.sources.council.jailedAt(validatorOf(at)) === 0,
      )
      if (number % Math.floor(BLOCKS / (JAILED + 1)) === 0) accuseOne(net, jailable)
      const block = await net.mine()
      seen.proofs += block.proofHeaders.length
      seen.jailed += block.evidence.length
      seen.transactions += block.transactions.length
      minted += mintedAt(number, rewards)
      burnt += await burntIn(first, number, burns)
      const at = `block ${number}, SEED=${SEED}`
      expect(await sumOfBalances(first), at).toBe(genesisWei + minted - burnt)
      const totalSupply = genesisWei + minted - burnt
      for (const { economy } of net.chains)
        expect(await economy.supply(number), at).toEqual({
          number,
          totalSupply,
          totalMinted: minted,
          totalBurnt: burnt,
        })
      const paid = await first.economy.rewards(number)
      const credited = [...(paid?.rewards.values() ?? [])].reduce((sum, wei) => sum + wei, 0n)
      expect(credited, at).toBe((paid?.minted ?? 0n) + (paid?.totalFee ?? 0n) - (paid?.burntFee ?? 0n))
    }
    console.log(JSON.stringify({ blocks: BLOCKS, ...seen, minted: `${minted}`, burnt: `${burnt}` }))
    expect(seen.proofs).toBeGreaterThan(FORK)
    expect(seen.jailed).toBeGreaterThan(0)
    expect(first.proofRows.byHeight(FORK)?.header.version).toBe(2)
  } finally {
    await net.close()
  }
}, 7_200_000)
