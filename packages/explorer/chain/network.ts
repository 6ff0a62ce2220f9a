import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { AddressLabel } from '../store/index-query.ts'
import type { NodeClient } from './node-client.ts'
import type { NodeValue } from './node-value.ts'
import type { ChainRules, RewardRules, TandemRules } from './rules.ts'

/** Facts of the network of its node that an explorer needs. */
export interface Network {
  readonly rules: ChainRules
  readonly genesisHash: Hex
  /** Members of the first council, the foundation, and the contract of the council. */
  readonly labels: readonly AddressLabel[]
}

/** Asks the node for the rules of its chain. Throws CodedError<NodeRequestError>. */
export const readNetwork = async (node: NodeClient): Promise<Network> => {
  const [params, genesis] = await Promise.all([
    node.call('native_getParams', '0x0').catch(undefinedIfRefused),
    node.call('eth_getBlockByNumber', '0x0', false),
  ])
  const genesisHash = genesis.member('hash').hex(32)
  return params === undefined
    ? { rules: await plainRules(node), genesisHash, labels: [] }
    : { ...(await tandemNetwork(node, params)), genesisHash }
}

/** For the error handlers of requests: undefined where the node refuses the method. */
export const undefinedIfRefused = (error: unknown): undefined => {
  if (isCoded(error) && error.code === 'NODE_REFUSED') return undefined
  throw error
}

/** Nodes for development, by what they call themselves. */
const DEVELOPMENT = /^(anvil|hardhat)/i

/** Rules of a chain whose node has the methods of Ethereum alone. */
const plainRules = async (node: NodeClient): Promise<ChainRules> => {
  const [chainId, version] = await Promise.all([node.call('eth_chainId'), node.call('web3_clientVersion')])
  const id = chainId.integer()
  return {
    name: `chain ${id}`,
    symbol: 'ETH',
    chainId: id,
    blockTimeMs: null,
    isDevelopment: DEVELOPMENT.test(version.text()),
    tandem: undefined,
  }
}

const COUNCIL_ADDRESS: Hex = '0x0000000000000000000000000000000000000400'

const tandemNetwork = async (node: NodeClient, params: NodeValue): Promise<Omit<Network, 'genesisHash'>> => {
  const [schedule, council] = await Promise.all([
    node.call('native_getSupplySchedule'),
    node.call('native_getStakingInfo', '0x0'),
  ])
  const foundation = params.member('foundation').orNull(address => address.hex(20)) ?? ZERO_ADDRESS
  const tandem = tandemRules(params, schedule, foundation)
  const members = council
    .items()
    .map(member => ({ validator: member.member('validator').hex(20), name: member.member('name').text() }))
  return {
    rules: {
      name: params.member('network').text(),
      symbol: params.member('symbol').text(),
      chainId: params.member('chainId').whole(1),
      blockTimeMs: params.member('blockTimeMs').whole(0),
      isDevelopment: params.member('devHelpers').boolean(),
      tandem,
    },
    labels: [...networkLabels(members, tandem.foundation), { address: COUNCIL_ADDRESS, name: 'Council' }],
  }
}

/** Beyond those of any network. */
const MOST_MEMBERS = 10_000
const MOST_BLOCKS = 2 ** 32

/** Rules that the explorer reads, from native_getParams and native_getSupplySchedule. */
const tandemRules = (params: NodeValue, schedule: NodeValue, foundation: Hex): TandemRules => {
  const counted = (member: string, most?: number): number => params.member(member).whole(1, most)
  const wei = (member: string): bigint => params.member(member).quantity()
  return {
    foundation,
    maxBlockExecutionGas: wei('maxBlockExecutionGas'),
    maxTxExecutionGas: params.member('maxTxExecutionGas').orNull(gas => gas.quantity()),
    minStakeWei: wei('minStake'),
    committeeSize: counted('committeeSize', MOST_MEMBERS),
    forks: params
      .member('forks')
      .entries()
      .map(([name, height]) => ({ name, height: height.orNull(value => value.whole(0)) })),
    feeShares: {
      proposerPercent: percent(params, 'feeShares.proposerPercent'),
      minerPercent: percent(params, 'feeShares.minerPercent'),
      foundationPercent: percent(params, 'feeShares.foundationPercent'),
    },
    rewards: rewardRules(params, schedule),
    baseFee:
      params.member('baseFee.rule').text() === 'eip1559'
        ? undefined
        : {
            lowerBoundWei: wei('baseFee.lowerBound'),
            upperBoundWei: wei('baseFee.upperBound'),
            gasTarget: wei('baseFee.gasTarget'),
          },
    proofChain: {
      before: params.member('proofChain.before').text(),
      after: params.member('proofChain.after').text(),
      spacingBlocks: counted('proofChain.spacingBlocks', MOST_BLOCKS),
    },
  }
}

const percent = (params: NodeValue, member: string): bigint => BigInt(params.member(member).whole(0, 100))

const rewardRules = (params: NodeValue, schedule: NodeValue): RewardRules => {
  const periods = schedule.member('periods').items()
  const genesisWei = schedule.member('genesis').quantity()
  const max = schedule.member('maxSupply')
  return {
    cycleBlocks: params.member('rewards.cycleBlocks').whole(1, MOST_BLOCKS),
    halvingBlocks: params.member('rewards.halvingBlocks').whole(1),
    minersPercent: percent(params, 'rewards.minersPercent'),
    unionPercent: percent(params, 'rewards.unionPercent'),
    genesisWei,
    // A reward that never ends counts for the periods which the node lists.
    maxWei: max.isNull
      ? periods.reduce((sum, period) => sum + period.member('minted').quantity(), genesisWei)
      : max.quantity(),
    cycleWei: periods.map(period => period.member('cycleReward').quantity()),
  }
}

/**
 * Labels of the members of the first council, by their names, and of the foundation. An address has one label: a validator that is the
 * foundation too keeps its own. The zero address is no foundation.
 */
export const networkLabels = (
  council: readonly { readonly validator: Hex; readonly name: string }[],
  foundation: Hex,
): readonly AddressLabel[] => [
  ...council.map(({ validator, name }) => ({ address: validator, name: `Validator ${name}`.trim() })),
  ...(foundation === ZERO_ADDRESS || council.some(({ validator }) => validator === foundation)
    ? []
    : [{ address: foundation, name: 'Foundation' }]),
]
