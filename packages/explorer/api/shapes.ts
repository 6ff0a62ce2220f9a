import { EXPLORER_LIMITS } from '../limits.ts'
import {
  ADDRESS,
  type ApiSchema,
  arrayOf,
  BOOLEAN,
  DATA,
  DECIMAL,
  HASH,
  INTEGER,
  NUMBER,
  nullable,
  pageOfShape,
  shape,
  TEXT,
} from './json-schema.ts'

/* Bodies of the endpoints (docs/explorer.md). Every key is always there; what is absent is null. */

const { authorizations, logs, logBytes, transfers } = EXPLORER_LIMITS.api

const BLOCK_ITEM = {
  number: INTEGER,
  hash: HASH,
  parentHash: HASH,
  timestamp: INTEGER,
  miner: ADDRESS,
  proposer: ADDRESS,
  transactionCount: INTEGER,
  gasUsed: DECIMAL,
  gasLimit: DECIMAL,
  baseFeePerGas: DECIMAL,
  size: INTEGER,
  feesWei: DECIMAL,
  burntWei: DECIMAL,
  mintedWei: DECIMAL,
}
export const BLOCK_ITEM_SHAPE = shape(BLOCK_ITEM)
const REWARD_SHAPE = shape({
  address: ADDRESS,
  role: { type: 'string', enum: ['miner', 'union', 'foundation'] },
  amountWei: DECIMAL,
})
export const BLOCK_SHAPE = shape({
  ...BLOCK_ITEM,
  stateRoot: HASH,
  transactionsRoot: HASH,
  receiptsRoot: HASH,
  extraData: DATA,
  difficulty: DECIMAL,
  totalDifficulty: DECIMAL,
  finalized: BOOLEAN,
  round: nullable(INTEGER),
  committee: nullable(arrayOf(ADDRESS)),
  committers: nullable(arrayOf(ADDRESS)),
  rewards: arrayOf(REWARD_SHAPE),
  transactions: arrayOf(HASH),
  previous: nullable(INTEGER),
  next: nullable(INTEGER),
})

const TOKEN_NAME = { address: ADDRESS, name: nullable(TEXT), symbol: nullable(TEXT), decimals: nullable(INTEGER) }
const TOKEN_REFERENCE = shape(TOKEN_NAME)
const STANDARD: ApiSchema = { type: 'string', enum: ['ERC-20', 'ERC-721', 'ERC-1155'] }
const TRANSFER_FIELDS = {
  logIndex: INTEGER,
  standard: STANDARD,
  token: TOKEN_REFERENCE,
  from: ADDRESS,
  to: ADDRESS,
  amount: DECIMAL,
  tokenId: nullable(DECIMAL),
}

const TRANSACTION_ITEM = {
  hash: HASH,
  blockNumber: INTEGER,
  blockHash: HASH,
  timestamp: INTEGER,
  transactionIndex: INTEGER,
  from: ADDRESS,
  to: nullable(ADDRESS),
  contractAddress: nullable(ADDRESS),
  value: DECIMAL,
  gas: DECIMAL,
  gasUsed: DECIMAL,
  gasPrice: DECIMAL,
  feeWei: DECIMAL,
  nonce: INTEGER,
  type: INTEGER,
  status: nullable(INTEGER),
  txType: { type: 'string', enum: ['transfer', 'call', 'create', 'token'] },
  method: nullable(TEXT),
  methodId: nullable(DATA),
}
const INTERNAL_FIELDS = {
  type: { type: 'string', enum: ['call', 'create', 'selfdestruct'] },
  from: ADDRESS,
  to: ADDRESS,
  value: DECIMAL,
} as const
export const INTERNAL_ITEM_SHAPE = shape({
  transactionHash: HASH,
  blockNumber: INTEGER,
  timestamp: INTEGER,
  transactionIndex: INTEGER,
  position: INTEGER,
  ...INTERNAL_FIELDS,
})

export const TRANSACTION_ITEM_SHAPE = shape(TRANSACTION_ITEM)
/** Arrays and tuples are lists. */
const ARGUMENT_VALUE: ApiSchema = { anyOf: [TEXT, BOOLEAN, { type: 'array', items: {} }] }
const ARGUMENT_SHAPE = shape({ name: TEXT, type: TEXT, value: ARGUMENT_VALUE })
/** `verified`: by the ABI of a verified contract, and not only by the likeness to a common standard. */
const DECODED_SHAPE = nullable(shape({ signature: TEXT, verified: BOOLEAN, args: arrayOf(ARGUMENT_SHAPE) }))
export const TRANSACTION_SHAPE = shape({
  ...TRANSACTION_ITEM,
  input: DATA,
  decodedInput: DECODED_SHAPE,
  cumulativeGasUsed: DECIMAL,
  effectiveGasPrice: DECIMAL,
  baseFeePerGas: DECIMAL,
  burntWei: DECIMAL,
  v: DECIMAL,
  r: DATA,
  s: DATA,
  accessList: nullable(arrayOf(shape({ address: ADDRESS, storageKeys: arrayOf(HASH) }))),
  authorizations: {
    ...arrayOf(shape({ authority: nullable(ADDRESS), address: ADDRESS, nonce: DECIMAL, chainId: DECIMAL })),
    description: `The first ${authorizations} delegations as signed (EIP-7702), with their signers; one with a used nonce has no effect`,
  },
  maxFeePerGas: nullable(DECIMAL),
  maxPriorityFeePerGas: nullable(DECIMAL),
  revertReason: nullable(TEXT),
  revertData: nullable(DATA),
  logCount: { ...INTEGER, description: 'Number of all logs' },
  logs: {
    ...arrayOf(
      shape({ logIndex: INTEGER, address: ADDRESS, topics: arrayOf(HASH), data: DATA, decoded: DECODED_SHAPE }),
    ),
    description: `The first logs: at most ${logs}, and with at most ${logBytes} bytes of data`,
  },
  tokenTransfers: { ...arrayOf(shape(TRANSFER_FIELDS)), description: `The first ${transfers}` },
  internalTransfers: { ...nullable(arrayOf(shape(INTERNAL_FIELDS))), description: `The first ${transfers}` },
  confirmations: INTEGER,
})

export const TRANSFER_ITEM_SHAPE = shape({
  transactionHash: HASH,
  blockNumber: INTEGER,
  timestamp: INTEGER,
  ...TRANSFER_FIELDS,
})

export const ADDRESS_SHAPE = shape({
  address: ADDRESS,
  balance: DECIMAL,
  balanceFormatted: TEXT,
  transactionCount: INTEGER,
  nonce: INTEGER,
  isContract: BOOLEAN,
  delegatedTo: { ...nullable(ADDRESS), description: 'Account whose code it runs (EIP-7702)' },
  label: nullable(TEXT),
  isVerified: BOOLEAN,
  contractName: nullable(TEXT),
  creator: nullable(ADDRESS),
  creationTransaction: nullable(HASH),
  token: nullable(shape({ ...TOKEN_NAME, standard: STANDARD })),
  tokenBalances: arrayOf(shape({ token: shape({ ...TOKEN_NAME, standard: STANDARD }), balance: nullable(DECIMAL) })),
  tokenTransferCount: INTEGER,
  internalTransferCount: INTEGER,
  minedBlocks: INTEGER,
  proposedBlocks: INTEGER,
  firstSeenBlock: nullable(INTEGER),
  lastSeenBlock: nullable(INTEGER),
  roles: arrayOf({ type: 'string', enum: ['union', 'miner', 'foundation', 'faucet'] }),
})

const TOKEN_ITEM = {
  address: ADDRESS,
  name: nullable(TEXT),
  symbol: nullable(TEXT),
  decimals: nullable(INTEGER),
  standard: STANDARD,
  totalSupply: nullable(DECIMAL),
  holderCount: INTEGER,
  transferCount: INTEGER,
  verified: BOOLEAN,
  logoURI: nullable(TEXT),
}
export const TOKEN_ITEM_SHAPE = shape(TOKEN_ITEM)
export const TOKEN_SHAPE = shape({
  ...TOKEN_ITEM,
  creator: nullable(ADDRESS),
  creationTransaction: nullable(HASH),
  holders: pageOfShape(
    shape({
      rank: nullable(INTEGER),
      address: ADDRESS,
      balance: nullable(DECIMAL),
      percent: nullable(NUMBER),
      label: nullable(TEXT),
    }),
  ),
})

export const TOP_ACCOUNT_SHAPE = shape({
  rank: nullable(INTEGER),
  address: ADDRESS,
  label: nullable(TEXT),
  isContract: BOOLEAN,
  transactionCount: INTEGER,
  balance: DECIMAL,
  percentOfSupply: nullable(NUMBER),
})

export const STATS_SHAPE = shape({
  updatedBlock: INTEGER,
  totals: shape({
    blocks: INTEGER,
    transactions: INTEGER,
    addresses: INTEGER,
    contracts: INTEGER,
    verifiedContracts: INTEGER,
    tokens: INTEGER,
  }),
  days: arrayOf(
    shape({
      date: TEXT,
      transactions: INTEGER,
      gasUsed: DECIMAL,
      volume: NUMBER,
      volumeWei: DECIMAL,
      feesWei: DECIMAL,
      burntWei: DECIMAL,
      activeAddresses: INTEGER,
      newAddresses: INTEGER,
      newContracts: INTEGER,
      averageGasPrice: DECIMAL,
      averageBlockTime: nullable(NUMBER),
    }),
  ),
})

/** Results of the search; the key that names a result depends on its type. */
export const SEARCH_SHAPE = shape({
  query: TEXT,
  results: arrayOf({
    type: 'object',
    properties: {
      type: { type: 'string', enum: ['token', 'label', 'address', 'transaction', 'block', 'proofBlock'] },
      address: ADDRESS,
      hash: HASH,
      number: INTEGER,
      name: nullable(TEXT),
      symbol: nullable(TEXT),
      verified: BOOLEAN,
      score: NUMBER,
    },
    required: ['type', 'name', 'symbol', 'verified', 'score'],
    additionalProperties: false,
  }),
})

const SHARE_SHAPE = shape({ share: NUMBER, total: NUMBER, totalWei: DECIMAL })
const PERIOD = { rewardPerCycle: NUMBER, rewardPerCycleWei: DECIMAL, totalMinted: NUMBER, totalMintedWei: DECIMAL }
export const SUPPLY_SHAPE = shape({
  totalSupply: NUMBER,
  totalSupplyWei: DECIMAL,
  currentSupply: NUMBER,
  currentSupplyWei: DECIMAL,
  totalBurntWei: DECIMAL,
  totalMinted: NUMBER,
  totalMintedWei: DECIMAL,
  mintedPercent: NUMBER,
  halvingBlock: INTEGER,
  breakdown: shape({ miners: SHARE_SHAPE, union: SHARE_SHAPE, foundation: SHARE_SHAPE }),
  preHalving: shape({ blocks: INTEGER, ...PERIOD }),
  postHalving: shape({ blocks: INTEGER, ...PERIOD }),
  periods: arrayOf(shape({ index: INTEGER, fromBlock: INTEGER, toBlock: INTEGER, ...PERIOD })),
})

export const NETWORK_SHAPE = shape({
  blockNumber: INTEGER,
  gasPrice: DECIMAL,
  gasPriceGwei: TEXT,
  tps: NUMBER,
  latestBlock: shape({
    number: INTEGER,
    miner: { type: 'string', pattern: '^0x[0-9a-f]{4}…[0-9a-f]{4}$' },
    proposer: { type: 'string', pattern: '^0x[0-9a-f]{4}…[0-9a-f]{4}$' },
    minerAddress: ADDRESS,
    proposerAddress: ADDRESS,
    gasUsed: DECIMAL,
    gasLimit: DECIMAL,
    baseFeePerGas: DECIMAL,
    transactionCount: INTEGER,
  }),
})

export const PRICE_SHAPE = shape({
  price: nullable(NUMBER),
  pair: TEXT,
  roundId: nullable(INTEGER),
  oracle: nullable(ADDRESS),
  sources: INTEGER,
  exchanges: arrayOf(shape({ name: TEXT, price: NUMBER })),
})

export const UNIONS_SHAPE = shape({
  members: arrayOf(
    shape({
      name: TEXT,
      address: ADDRESS,
      totalStaked: NUMBER,
      totalStakedWei: DECIMAL,
      totalReward: NUMBER,
      totalRewardWei: DECIMAL,
      estimatedAnnualReward: NUMBER,
      halvingAwareAPR: nullable(NUMBER),
      startBlockNumber: nullable(INTEGER),
      slots: INTEGER,
      proposedBlocks: INTEGER,
      online: BOOLEAN,
    }),
  ),
  totalCnt: INTEGER,
  halving: shape({
    block: INTEGER,
    nextBlock: INTEGER,
    blocksRemaining: INTEGER,
    currentReward: NUMBER,
    nextReward: NUMBER,
    estimatedTimestamp: INTEGER,
  }),
})

export const CONTRACT_STATUS_SHAPE = shape({
  address: ADDRESS,
  isContract: BOOLEAN,
  verified: BOOLEAN,
  match: nullable({ type: 'string', enum: ['exact', 'partial'] }),
  runtimeMatch: nullable({ type: 'string', enum: ['exact', 'partial'] }),
  creationMatch: nullable({ type: 'string', enum: ['exact', 'partial', 'different'] }),
  unproven: nullable(TEXT),
  name: nullable(TEXT),
  language: nullable(TEXT),
  compilerVersion: nullable(TEXT),
  evmVersion: nullable(TEXT),
  optimization: nullable(shape({ enabled: BOOLEAN, runs: INTEGER })),
  viaIR: nullable(BOOLEAN),
  license: nullable(TEXT),
  constructorArguments: nullable(DATA),
  libraries: { type: 'object', additionalProperties: ADDRESS },
  verifiedAt: nullable(INTEGER),
  sources: arrayOf(shape({ path: TEXT, bytes: INTEGER })),
  abi: nullable(arrayOf({})),
  proxy: nullable(shape({ isProxy: BOOLEAN, kind: TEXT, implementation: nullable(ADDRESS) })),
  pendingJob: nullable(TEXT),
})
