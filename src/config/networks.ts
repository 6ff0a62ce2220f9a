import type { Hex } from '@tandem/base/bytes.ts'
import { type BlobFork, EVM_FORKS, type EvmFork, type Fork, isForkSince } from './forks.ts'
import { PRECOMPILE_PRICES, type PrecompilePrices } from './precompile-prices.ts'

export type NetworkName = 'mainnet' | 'testnet' | 'devnet'
export const NAMESPACES = [
  'eth',
  'net',
  'rpc',
  'native',
  'debug',
  'web3',
  'txpool',
  'admin',
  'evm',
  'personal',
  'hardhat',
  'anvil',
  'testing',
] as const
export type Namespace = (typeof NAMESPACES)[number]

/** Base fee rule; the target and the bounds are those of KIP-71 (docs/design/money.md#base-fee). */
export interface BaseFeeParams {
  /** `eip1559`: Ethereum's rule, with a target from each block's own gas limit. */
  readonly rule: 'kip71' | 'eip1559'
  readonly lowerBoundWei: bigint
  readonly upperBoundWei: bigint
  readonly gasTarget: bigint
  readonly maxBlockGasUsed: bigint
  readonly denominator: bigint
}

/** Percent of the fee; the remainder of the floors is burnt (docs/design/money.md#fees). */
export interface FeeShares {
  readonly proposerPercent: bigint
  readonly minerPercent: bigint
  readonly foundationPercent: bigint
}

export interface RewardParams {
  readonly cycleBlocks: number
  readonly cycleRewardWei: bigint
  /** Remaining part per ten thousand at each halving. */
  readonly halvingNumerator: bigint
  readonly halvingDenominator: bigint
  readonly halvingBlocks: number
  readonly minersPercent: bigint
  readonly unionPercent: bigint
}

/** Registration and service of validators (docs/design/council.md#council). */
export interface CouncilParams {
  /** Registration needs no votes. */
  readonly openRegistration: boolean
  /** Seconds from a member's request to leave until its stake can be withdrawn. */
  readonly unbondingSeconds: number
  /** A member in the committees of so many certificates in a row without a seal is excluded for as many blocks. */
  readonly inactiveBlocks: number
  /** Age in blocks from which evidence has no effect. */
  readonly evidenceBlocks: number
}

/** Address of the contract that registers validators (contracts/Council.sol), set in genesis. */
export const COUNCIL_ADDRESS: Hex = '0x0000000000000000000000000000000000000400'

/** EIP-2935: contract of block hashes by number, set in genesis (docs/design/evm-rules.md#forks-in-force). */
export const HISTORY_ADDRESS: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'

/** More than any block can use: for rules without such a bound. */
export const UNBOUNDED_GAS = 2n ** 63n - 1n

/** Rules of the proof chain (docs/design/proof-chain.md); its fork height is that of the fork `nativeHash`. */
export interface ProofChainParams {
  /** Names of the hash function below the fork and from it on, as clients see them. */
  readonly before: string
  readonly after: string
  /** Target distance of two proof headers, in main blocks. */
  readonly spacingBlocks: number
  /** Half-life of the difficulty rule, in main blocks. */
  readonly halfLifeBlocks: number
  /** Age of an anchor in main blocks beyond which a header cannot be included. */
  readonly maxAnchorAgeBlocks: number
  /** Easiest target of each version. */
  readonly maxTargetBefore: bigint
  readonly maxTargetAfter: bigint
}

/** Rules on which every node of a network agrees. A genesis file may set other forks for a private chain. */
export interface ChainParams {
  readonly chainId: number
  readonly networkId: number
  readonly forks: readonly Fork[]
  /** Ascending by height; empty: the chain has no blobs (docs/design/evm-rules.md#forks-in-force). */
  readonly blobForks: readonly BlobFork[]
  readonly blockTimeMs: number
  readonly blockGasLimit: bigint
  /** Bound on one transaction's execution (docs/design/evm-rules.md#limits); null: none but the fork's cap on its gas limit (EIP-7825). */
  readonly maxTxExecutionGas: bigint | null
  /** Bound on the gas used of one block (docs/design/consensus.md); at least that of one transaction. */
  readonly maxBlockExecutionGas: bigint
  /** Flat price of a calldata byte; null uses the fork's own (EIP-2028, EIP-7623). */
  readonly calldataGasPerByte: bigint | null
  /** null uses the fork's own. */
  readonly precompilePrices: PrecompilePrices | null
  /** Bytes of a contract's code; omitted: those of EIP-170. Init code may have twice as many. */
  readonly codeSizeLimit?: number
  readonly baseFee: BaseFeeParams
  readonly feeShares: FeeShares
  /** Recipient of tips: the shares together with base fees, or the coinbase directly (Ethereum; fixture mode). */
  readonly tips: 'shared' | 'coinbase'
  readonly rewards: RewardParams
  readonly committeeSize: number
  readonly minStakeWei: bigint
  readonly council: CouncilParams
  readonly roundTimeoutMs: number
  readonly proofChain: ProofChainParams
  /**
   * Development chain: time, base fee, gas limit and beneficiary of a block are its proposer's free choice, blocks can be reverted and
   * accounts edited (docs/dev-helpers.md). Only true where a single validator decides (config/genesis/genesis.ts).
   */
  readonly devHelpers: boolean
}

/** Network: its rules and the services of its endpoints. */
export interface NetworkParams extends ChainParams {
  readonly name: NetworkName
  readonly symbol: string
  readonly namespaces: { readonly http: readonly Namespace[]; readonly ws: readonly Namespace[] }
  /** Paths that upgrade to a WebSocket, and a path redirected by 301 to the first of them. */
  readonly wsPaths: readonly string[]
  readonly wsRedirect: string | null
  /** Its tokens may be given away (docs/faucet.md). */
  readonly faucet: boolean
  /** The genesis of a public network is not built in: a file must be given. */
  readonly needsGenesisFile: boolean
}

/** Base fee of a first block under EIP-1559, wei per gas; geth uses it for a block 0 without one. */
export const INITIAL_BASE_FEE = 1_000_000_000n

/** EIP-1559 without bounds. Its target comes from each block's own gas limit. */
export const ethereumBaseFee = (blockGasLimit: bigint): BaseFeeParams => ({
  rule: 'eip1559',
  lowerBoundWei: 0n,
  upperBoundWei: 2n ** 256n - 1n,
  gasTarget: blockGasLimit / 2n,
  maxBlockGasUsed: blockGasLimit,
  denominator: 8n,
})

const GWEI = 10n ** 9n
const TOKEN = 10n ** 18n

/** Newest fork of the networks; later ones are known and not scheduled. */
const NEWEST: EvmFork = 'osaka'

const evmForks = (nativeHash: number): readonly Fork[] => [
  ...EVM_FORKS.slice(1).map(name => ({ name, height: isForkSince(NEWEST, name) ? 0 : null })),
  { name: 'nativeHash', height: nativeHash },
]

const mainnet: NetworkParams = {
  name: 'mainnet',
  chainId: 20_250_217,
  networkId: 20_250_217,
  symbol: 'TNDM',
  forks: evmForks(1_740_000),
  blobForks: [],
  blockTimeMs: 1_000,
  blockGasLimit: 999_999_999_999n,
  maxTxExecutionGas: 100_000_000n,
  maxBlockExecutionGas: 400_000_000n,
  calldataGasPerByte: 100n,
  precompilePrices: PRECOMPILE_PRICES,
  baseFee: {
    rule: 'kip71',
    lowerBoundWei: 25n * GWEI,
    upperBoundWei: 750n * GWEI,
    gasTarget: 30_000_000n,
    maxBlockGasUsed: 60_000_000n,
    denominator: 20n,
  },
  feeShares: { proposerPercent: 20n, minerPercent: 20n, foundationPercent: 10n },
  tips: 'shared',
  rewards: {
    cycleBlocks: 60,
    cycleRewardWei: 2_000n * TOKEN,
    halvingNumerator: 7_372n,
    halvingDenominator: 10_000n,
    halvingBlocks: 31_536_000,
    minersPercent: 40n,
    unionPercent: 40n,
  },
  committeeSize: 31,
  minStakeWei: 35_000_000n * TOKEN,
  council: {
    openRegistration: false,
    unbondingSeconds: 21 * 86_400,
    inactiveBlocks: 600,
    evidenceBlocks: 604_800,
  },
  roundTimeoutMs: 2_000,
  proofChain: {
    before: 'sha256d',
    after: 'nativeHash',
    spacingBlocks: 60,
    halfLifeBlocks: 3_600,
    maxAnchorAgeBlocks: 120,
    maxTargetBefore: 2n ** 236n - 1n,
    maxTargetAfter: 2n ** 248n - 1n,
  },
  devHelpers: false,
  namespaces: { http: ['eth', 'net', 'rpc', 'native'], ws: ['eth', 'net', 'rpc', 'native'] },
  wsPaths: ['/ws'],
  wsRedirect: null,
  faucet: false,
  needsGenesisFile: true,
}

const testnet: NetworkParams = {
  ...mainnet,
  name: 'testnet',
  chainId: 1_998_991,
  networkId: 1_998_991,
  symbol: 'tTNDM',
  forks: evmForks(327_400),
  namespaces: { http: ['debug', 'eth', 'net', 'rpc', 'native'], ws: ['eth', 'net', 'rpc', 'web3'] },
  wsPaths: ['/ws/'],
  wsRedirect: '/ws',
  faucet: true,
}

const devnet: NetworkParams = {
  ...mainnet,
  name: 'devnet',
  chainId: 1_998_999,
  networkId: 1_998_999,
  symbol: 'dTNDM',
  forks: evmForks(20),
  minStakeWei: 35n * TOKEN,
  council: { ...mainnet.council, openRegistration: true, unbondingSeconds: 600 },
  // Test suites deploy many contracts at once. Time bounds a block here too (BUILD_LIMITS).
  maxBlockExecutionGas: 1_000_000_000n,
  roundTimeoutMs: 1_000,
  proofChain: {
    ...mainnet.proofChain,
    spacingBlocks: 5,
    halfLifeBlocks: 120,
    maxTargetBefore: 2n ** 252n - 1n,
    maxTargetAfter: 2n ** 253n - 1n,
  },
  namespaces: { http: NAMESPACES, ws: NAMESPACES },
  wsPaths: ['/ws', '/ws/', '/'],
  faucet: true,
  needsGenesisFile: false,
  devHelpers: true,
}

export const NETWORKS: Readonly<Record<NetworkName, NetworkParams>> = { mainnet, testnet, devnet }

/** Returns true where test tokens may be given away: a chain with mainnet's id would sign transfers that mainnet takes too. */
export const allowsFaucet = ({ faucet, chainId }: Pick<NetworkParams, 'faucet' | 'chainId'>): boolean =>
  faucet && chainId !== mainnet.chainId
