import { assert } from '@tandem/base/assert.ts'
import { bigintToBytes, bytesToBigint, type Hex } from '@tandem/base/bytes.ts'
import type { NetworkParams } from '../../config/networks.ts'
import { headerHash } from '../../primitives/header.ts'
import { cycleOf, endsCycle } from '../../rules/council/cycle.ts'
import { assignFees, type FeeSplit } from '../../rules/money/fees.ts'
import { minerCredits, mintedAt, type RewardCredit, rewardCredits, unionShareAt } from '../../rules/money/rewards.ts'
import { mintedUpTo, type SupplySchedule, supplyAt, supplySchedule } from '../../rules/money/supply.ts'
import type { AccountChange } from '../../state/update/state-update.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import type { Council } from '../council/council.ts'
import type { ProofRows } from '../proof/proof-rows.ts'
import type { BlockStore } from '../store/block-store.ts'
import { requireHistory } from '../store/earliest-block.ts'

interface EconomyOptions {
  readonly params: NetworkParams
  readonly foundation: Hex
  /** Sum of the genesis allocation, wei. */
  readonly genesisWei: bigint
  readonly council: Council
  readonly store: Store
  readonly blocks: BlockStore
  readonly proofs: Pick<ProofRows, 'coinbasesAt'>
}

/** Wei that a block minted, took as fees and credited (docs/design/money.md#minting); `rewards` holds each credited address with its sum. */
export interface BlockRewards {
  readonly minted: bigint
  readonly totalFee: bigint
  readonly burntFee: bigint
  readonly proposer: bigint
  readonly miner: bigint
  readonly foundation: bigint
  readonly rewards: ReadonlyMap<Hex, bigint>
}

/** Shares of a block in fees and in its cycle's minting, wei (docs/design/money.md#minting); the cycle's last pays `union` and `miners`. */
export interface BlockShares {
  readonly hash: Hex
  readonly cycle: number
  readonly minted: bigint
  readonly totalFee: bigint
  readonly fees: FeeSplit
  readonly union: bigint
  readonly miners: readonly RewardCredit[]
}

/** Minting, fees and supply, derived from the blocks and one running total of burnt wei (docs/design/money.md#supply). */
export class Economy {
  readonly #options: EconomyOptions
  #burnt: { readonly number: number; readonly wei: bigint } | undefined

  constructor(options: EconomyOptions) {
    this.#options = options
  }

  /** Returns the credits of a block after its transactions; `last` is the block's own data, since its header does not exist yet. */
  async credits(
    number: number,
    { proposer, coinbases }: { readonly proposer: Hex; readonly coinbases: readonly Hex[] },
  ): Promise<readonly RewardCredit[]> {
    const { params, foundation, council, blocks } = this.#options
    if (!endsCycle(number, params.rewards.cycleBlocks)) return []
    const proposers: Hex[] = []
    for (let n = number - params.rewards.cycleBlocks + 1; n <= number; n++) {
      const block = n === number ? { extra: { proposer } } : await blocks.header(n)
      assert(block, 'the blocks of the running cycle are stored')
      // A validator jailed by now is not paid for earlier blocks either.
      proposers.push(council.payeeOf(block.extra.proposer, number))
    }
    return rewardCredits(number, params.rewards, { proposers, coinbases, foundation })
  }

  /** Returns the wei that a block burnt, fees and balances of destroyed contracts: the balances' total loss beyond the minting. */
  burntBy(number: number, burntFeeWei: bigint, accounts: Iterable<AccountChange>): bigint {
    let burntWei = mintedAt(number, this.#options.params.rewards)
    for (const { before, after } of accounts) burntWei += (before?.balance ?? 0n) - (after?.balance ?? 0n)
    assert(burntWei >= burntFeeWei, 'no block makes money out of nothing')
    return burntWei
  }

  /** Adds the running total of burnt wei to the batch. */
  async write(batch: Batch, number: number, burntWei: bigint): Promise<void> {
    const before = number === 0 ? 0n : await this.#burntUpTo(number - 1)
    const wei = before + burntWei
    batch.put(BUCKETS.supply, numberKey(number), wei === 0n ? Uint8Array.of(0) : bigintToBytes(wei))
    this.#burnt = { number, wei }
  }

  /** Returns undefined when the block is unknown. Throws HISTORY_MISSING when a block or proof header that it depends on is not fetched yet. */
  async rewards(number: number): Promise<BlockRewards | undefined> {
    const { params, foundation, council, blocks } = this.#options
    const { cycleBlocks } = params.rewards
    requireHistory(blocks.earliest, endsCycle(number, cycleBlocks) ? number - cycleBlocks + 1 : number, number)
    const income = await this.#incomeOf(number)
    if (income === undefined) return undefined
    const { header, extra, coinbases, totalFee, fees } = income
    const rewards = new Map<Hex, bigint>()
    const add = (address: Hex, wei: bigint) => {
      if (wei > 0n) rewards.set(address, (rewards.get(address) ?? 0n) + wei)
    }
    add(council.payeeOf(extra.proposer, number), fees.proposer)
    add(header.miner, fees.miner)
    add(foundation, fees.foundation)
    const last = { proposer: extra.proposer, coinbases }
    for (const { address, amountWei } of await this.credits(number, last)) add(address, amountWei)
    return {
      minted: mintedAt(number, params.rewards),
      totalFee,
      burntFee: fees.burnt,
      proposer: fees.proposer,
      miner: fees.miner,
      foundation: fees.foundation,
      rewards,
    }
  }

  /** Returns undefined when the block is unknown. Throws HISTORY_MISSING when it or a proof header that it pays is not fetched yet. */
  async shares(number: number): Promise<BlockShares | undefined> {
    const { rewards } = this.#options.params
    requireHistory(this.#options.blocks.earliest, number, number)
    const income = await this.#incomeOf(number)
    if (income === undefined) return undefined
    const { header, coinbases, totalFee, fees } = income
    return {
      hash: headerHash(header),
      cycle: cycleOf(number, rewards.cycleBlocks),
      minted: mintedAt(number, rewards),
      totalFee,
      fees,
      union: unionShareAt(number, rewards),
      miners: minerCredits(number, rewards, coinbases),
    }
  }

  /** Returns the income of a block, and the data by which it is divided. */
  async #incomeOf(number: number) {
    const { params, blocks, proofs } = this.#options
    const [block, receipts] = await Promise.all([blocks.header(number), blocks.receiptsWithoutBlooms(number)])
    if (block === undefined || receipts === undefined) return undefined
    const { header, extra } = block
    const coinbases = endsCycle(number, params.rewards.cycleBlocks) ? proofs.coinbasesAt(extra.proofTip) : []
    if (coinbases === undefined) {
      // The headers that it pays may be in earlier blocks than those of its cycle.
      requireHistory(blocks.earliest, 1, number)
      return undefined
    }
    const totalFee = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
    const fees = assignFees(totalFee, params.feeShares, header.miner)
    return { header, extra, coinbases, totalFee, fees }
  }

  /** Periods of the reward, at most `limit` of them. */
  schedule(limit: number): SupplySchedule {
    return supplySchedule(this.#options.genesisWei, this.#options.params.rewards, limit)
  }

  async supply(number: number) {
    const { params, genesisWei } = this.#options
    const row = await this.#options.store.get(BUCKETS.supply, numberKey(number))
    if (row === undefined) return undefined
    const totalBurnt = bytesToBigint(row)
    return {
      number,
      totalSupply: supplyAt(number, genesisWei, totalBurnt, params.rewards),
      totalMinted: mintedUpTo(number, params.rewards),
      totalBurnt,
    }
  }

  async #burntUpTo(number: number): Promise<bigint> {
    if (this.#burnt?.number === number) return this.#burnt.wei
    const row = await this.#options.store.get(BUCKETS.supply, numberKey(number))
    assert(row, 'every committed block has its supply row')
    return bytesToBigint(row)
  }
}
