import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { NETWORKS, type NetworkName, type NetworkParams } from '../../config/networks.ts'
import { networkLabels } from '../indexer/network-labels.ts'
import type { AddressLabel } from '../store/index-store.ts'
import type { NodeAnswer } from './node-answer.ts'
import type { NodeClient } from './node-client.ts'
import { remoteNodeError } from './node-error.ts'

/** Facts of the network of its node that an explorer needs. */
export interface RemoteNetwork {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  readonly genesisWei: bigint
  /** Zero address where the node does not tell. */
  readonly foundation: Hex
  /** Members of the first council, and the foundation. */
  readonly labels: readonly AddressLabel[]
}

/** Asks the node for the rules of its chain. Throws CodedError<RemoteNodeError>. */
export const readNetwork = async (node: NodeClient): Promise<RemoteNetwork> => {
  const [rules, genesis, supply, council] = await Promise.all([
    node.call('native_getParams', '0x0'),
    node.call('eth_getHeaderByNumber', '0x0'),
    node.call('native_getTotalSupply', '0x0').catch((error: unknown) => {
      // A node that began with a snapshot may not know its first block yet.
      if (isCoded(error) && error.code === 'NODE_REFUSED') return undefined
      throw error
    }),
    node.call('native_getStakingInfo', '0x0'),
  ])
  const foundation = rules.member('foundation')
  const founder = foundation.isNull ? ZERO_ADDRESS : foundation.hex(20)
  return {
    params: paramsFromAnswer(rules),
    genesisHash: genesis.member('hash').hex(32),
    genesisWei: supply?.member('totalSupply').quantity() ?? 0n,
    foundation: founder,
    labels: networkLabels(
      council
        .items()
        .map(member => ({ validator: member.member('validator').hex(20), name: member.member('name').text() })),
      founder,
    ),
  }
}

/** Beyond those of any network. */
const MOST_MEMBERS = 10_000
const MOST_BLOCKS = 2 ** 32

/** Rules that the explorer reads, from native_getParams; the others are those of the network's name. */
const paramsFromAnswer = (rules: NodeAnswer): NetworkParams => {
  const name = rules.member('network').text()
  if (!Object.hasOwn(NETWORKS, name))
    throw remoteNodeError({ code: 'NODE_ANSWER_INVALID', reason: `no network ${name}` })
  const base = NETWORKS[name as NetworkName]
  const counted = (member: string, most?: number): number => rules.member(member).whole(1, most)
  const percent = (member: string): bigint => BigInt(rules.member(member).whole(0, 100))
  const heights = new Map(
    rules
      .member('forks')
      .entries()
      .map(([fork, height]) => [fork, height.isNull ? null : height.whole(0)]),
  )
  const denominator = base.rewards.halvingDenominator
  return {
    ...base,
    symbol: rules.member('symbol').text(),
    chainId: counted('chainId'),
    networkId: counted('networkId'),
    blockTimeMs: rules.member('blockTimeMs').whole(0),
    blockGasLimit: rules.member('blockGasLimit').quantity(),
    maxTxExecutionGas: rules.member('maxTxExecutionGas').quantity(),
    maxBlockExecutionGas: rules.member('maxBlockExecutionGas').quantity(),
    minStakeWei: rules.member('minStake').quantity(),
    committeeSize: counted('committeeSize', MOST_MEMBERS),
    devHelpers: rules.member('devHelpers').boolean(),
    forks: base.forks.map(fork => ({ ...fork, height: heights.get(fork.name) ?? null })),
    feeShares: {
      proposerPercent: percent('feeShares.proposerPercent'),
      minerPercent: percent('feeShares.minerPercent'),
      foundationPercent: percent('feeShares.foundationPercent'),
    },
    rewards: {
      cycleBlocks: counted('rewards.cycleBlocks', MOST_BLOCKS),
      cycleRewardWei: rules.member('rewards.cycleReward').quantity(),
      halvingNumerator: BigInt(Math.round(rules.member('rewards.halvingRatio').fraction(0, 1) * Number(denominator))),
      halvingDenominator: denominator,
      halvingBlocks: counted('rewards.halvingBlocks'),
      minersPercent: percent('rewards.minersPercent'),
      unionPercent: percent('rewards.unionPercent'),
    },
    baseFee: {
      ...base.baseFee,
      lowerBoundWei: rules.member('baseFee.lowerBound').quantity(),
      upperBoundWei: rules.member('baseFee.upperBound').quantity(),
      gasTarget: rules.member('baseFee.gasTarget').quantity(),
      maxBlockGasUsed: rules.member('baseFee.maxBlockGasUsed').quantity(),
      denominator: rules.member('baseFee.denominator').divisor(),
    },
    proofChain: {
      ...base.proofChain,
      before: rules.member('proofChain.before').text(),
      after: rules.member('proofChain.after').text(),
      spacingBlocks: counted('proofChain.spacingBlocks', MOST_BLOCKS),
      halfLifeBlocks: counted('proofChain.halfLifeBlocks'),
      maxAnchorAgeBlocks: counted('proofChain.maxAnchorAgeBlocks'),
      maxTargetBefore: BigInt(rules.member('proofChain.maxTargetBefore').hex(32)),
      maxTargetAfter: BigInt(rules.member('proofChain.maxTargetAfter').hex(32)),
    },
  }
}
