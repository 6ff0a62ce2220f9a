import type { Hex } from '@tandem/base/bytes.ts'

/** Rules of a chain that the explorer shows. */
export interface ChainRules {
  readonly name: string
  readonly symbol: string
  readonly chainId: number
  /** 0: a block for each transaction; null: not known. */
  readonly blockTimeMs: number | null
  /** Blocks may be taken back, and the whole chain may be another one after a restart of the node. */
  readonly isDevelopment: boolean
  /** undefined: the node has no methods of the namespace `native`. */
  readonly tandem: TandemRules | undefined
}

/** Rules of a chain with a council and a proof chain, of native_getParams and native_getSupplySchedule. */
export interface TandemRules {
  readonly foundation: Hex
  readonly maxBlockExecutionGas: bigint
  /** null: no bound but the block's. */
  readonly maxTxExecutionGas: bigint | null
  readonly minStakeWei: bigint
  readonly committeeSize: number
  /** First number or proof height of each fork; null: not scheduled. */
  readonly forks: readonly { readonly name: string; readonly height: number | null }[]
  readonly feeShares: FeeShares
  readonly rewards: RewardRules
  /** undefined: EIP-1559, without bounds. */
  readonly baseFee:
    | { readonly lowerBoundWei: bigint; readonly upperBoundWei: bigint; readonly gasTarget: bigint }
    | undefined
  readonly proofChain: { readonly before: string; readonly after: string; readonly spacingBlocks: number }
}

/** Percent of the fees; the rest is burnt. */
interface FeeShares {
  readonly proposerPercent: bigint
  readonly minerPercent: bigint
  readonly foundationPercent: bigint
}

export interface RewardRules {
  readonly cycleBlocks: number
  readonly halvingBlocks: number
  readonly minersPercent: bigint
  readonly unionPercent: bigint
  readonly genesisWei: bigint
  /** Most wei that there can ever be. */
  readonly maxWei: bigint
  /** Minting of a cycle by period, wei; the periods after these mint nothing. */
  readonly cycleWei: readonly bigint[]
}

const PROOF_FORK = 'nativeHash'

/** Returns true for a fork whose height is one of the proof chain. */
export const isProofFork = (name: string): boolean => name === PROOF_FORK

/** First proof height under the second hash function; null: it is not scheduled. */
export const proofForkHeight = ({ forks }: Pick<TandemRules, 'forks'>): number | null =>
  forks.find(({ name }) => isProofFork(name))?.height ?? null

/** Blocks a second, of a chain that makes them by the clock. */
export const secondsOf = (blocks: number, { blockTimeMs }: Pick<ChainRules, 'blockTimeMs'>): number =>
  (blocks * (blockTimeMs || 1_000)) / 1_000

/** Division of the fee of one transaction, wei. */
interface FeeSplit {
  readonly proposer: bigint
  readonly miner: bigint
  readonly foundation: bigint
  readonly burnt: bigint
}

/** Divides a fee by the shares, each floored; without a miner the foundation has the miner's share. */
export const splitFee = (feeWei: bigint, shares: FeeShares, hasMiner: boolean): FeeSplit => {
  const part = (percent: bigint): bigint => (feeWei * percent) / 100n
  const [proposer, miner, foundation] = [
    part(shares.proposerPercent),
    part(shares.minerPercent),
    part(shares.foundationPercent),
  ]
  const burnt = feeWei - proposer - miner - foundation
  return hasMiner
    ? { proposer, miner, foundation, burnt }
    : { proposer, miner: 0n, foundation: foundation + miner, burnt }
}
