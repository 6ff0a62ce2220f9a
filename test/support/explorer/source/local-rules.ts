import type { ChainRules } from '@tandem/explorer/chain/rules.ts'
import type { Genesis } from '../../../../src/config/genesis/genesis.ts'
import { genesisSupply } from '../../../../src/rules/money/genesis-alloc.ts'
import { rewardOfPeriod } from '../../../../src/rules/money/rewards.ts'
import { supplySchedule } from '../../../../src/rules/money/supply.ts'

/** Rules of the node's own chain. */
export const localRules = (genesis: Genesis): ChainRules => {
  const { params, foundation } = genesis
  const genesisWei = genesisSupply(genesis)
  const cycleWei: bigint[] = []
  while (cycleWei.length < 256 && rewardOfPeriod(cycleWei.length, params.rewards) > 0n)
    cycleWei.push(rewardOfPeriod(cycleWei.length, params.rewards))
  return {
    name: params.name,
    symbol: params.symbol,
    chainId: params.chainId,
    blockTimeMs: params.blockTimeMs,
    isDevelopment: params.devHelpers,
    tandem: {
      foundation,
      maxBlockExecutionGas: params.maxBlockExecutionGas,
      maxTxExecutionGas: params.maxTxExecutionGas,
      minStakeWei: params.minStakeWei,
      committeeSize: params.committeeSize,
      forks: params.forks,
      feeShares: params.feeShares,
      rewards: {
        ...params.rewards,
        genesisWei,
        maxWei: supplySchedule(genesisWei, params.rewards, 256).maxWei ?? 0n,
        cycleWei,
      },
      baseFee: params.baseFee,
      proofChain: params.proofChain,
    },
  }
}
