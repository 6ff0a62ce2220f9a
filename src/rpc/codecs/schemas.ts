import type { JsonSchema } from '../router/raw-json.ts'
import { ADDRESS_SCHEMA, BOOLEAN_SCHEMA, DATA_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from './scalars.ts'

// Schemas of results, shared by OpenRPC, the documentation and the tests that check responses.

export const NULL_SCHEMA: JsonSchema = { type: 'null' }
export const STRING_SCHEMA: JsonSchema = { type: 'string' }
export const NUMBER_SCHEMA: JsonSchema = { type: 'number' }
export const INTEGER_SCHEMA: JsonSchema = { type: 'integer', minimum: 0 }
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, NULL_SCHEMA] })
export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** Schema of an object with exactly these members; those in `optional` may be absent. */
export const objectOf = (
  title: string,
  properties: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema => ({
  title,
  type: 'object',
  required: Object.keys(properties).filter(name => !optional.includes(name)),
  properties,
  additionalProperties: false,
})

const BLOOM_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]{512}$' }

export const ACCESS_LIST_SCHEMA = listOf(
  objectOf('AccessTuple', { address: ADDRESS_SCHEMA, storageKeys: listOf(HASH_SCHEMA) }),
)

/** Authorization of EIP-7702. */
const AUTHORIZATION_SCHEMA = objectOf('Authorization', {
  chainId: QUANTITY_SCHEMA,
  address: ADDRESS_SCHEMA,
  nonce: QUANTITY_SCHEMA,
  yParity: QUANTITY_SCHEMA,
  r: QUANTITY_SCHEMA,
  s: QUANTITY_SCHEMA,
})

export const TRANSACTION_SCHEMA = objectOf(
  'Transaction',
  {
    blockHash: orNull(HASH_SCHEMA),
    blockNumber: orNull(QUANTITY_SCHEMA),
    blockTimestamp: orNull(QUANTITY_SCHEMA),
    transactionIndex: orNull(QUANTITY_SCHEMA),
    from: ADDRESS_SCHEMA,
    gas: QUANTITY_SCHEMA,
    gasPrice: QUANTITY_SCHEMA,
    hash: HASH_SCHEMA,
    input: DATA_SCHEMA,
    nonce: QUANTITY_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    value: QUANTITY_SCHEMA,
    type: QUANTITY_SCHEMA,
    v: QUANTITY_SCHEMA,
    r: QUANTITY_SCHEMA,
    s: QUANTITY_SCHEMA,
    chainId: QUANTITY_SCHEMA,
    accessList: ACCESS_LIST_SCHEMA,
    yParity: QUANTITY_SCHEMA,
    maxFeePerGas: QUANTITY_SCHEMA,
    maxPriorityFeePerGas: QUANTITY_SCHEMA,
    maxFeePerBlobGas: QUANTITY_SCHEMA,
    blobVersionedHashes: listOf(HASH_SCHEMA),
    authorizationList: listOf(AUTHORIZATION_SCHEMA),
  },
  [
    'chainId',
    'accessList',
    'yParity',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
    'maxFeePerBlobGas',
    'blobVersionedHashes',
    'authorizationList',
  ],
)

/** Transaction that is to be signed. */
export const UNSIGNED_SCHEMA = objectOf(
  'UnsignedTransaction',
  {
    type: QUANTITY_SCHEMA,
    from: ADDRESS_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    nonce: QUANTITY_SCHEMA,
    gas: QUANTITY_SCHEMA,
    value: QUANTITY_SCHEMA,
    input: DATA_SCHEMA,
    chainId: QUANTITY_SCHEMA,
    gasPrice: QUANTITY_SCHEMA,
    maxFeePerGas: QUANTITY_SCHEMA,
    maxPriorityFeePerGas: QUANTITY_SCHEMA,
    accessList: ACCESS_LIST_SCHEMA,
    authorizationList: listOf(AUTHORIZATION_SCHEMA),
  },
  ['gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'accessList', 'authorizationList'],
)

export const LOG_SCHEMA = objectOf('Log', {
  address: ADDRESS_SCHEMA,
  topics: listOf(HASH_SCHEMA),
  data: DATA_SCHEMA,
  blockNumber: QUANTITY_SCHEMA,
  blockTimestamp: QUANTITY_SCHEMA,
  transactionHash: HASH_SCHEMA,
  transactionIndex: QUANTITY_SCHEMA,
  blockHash: HASH_SCHEMA,
  logIndex: QUANTITY_SCHEMA,
  removed: BOOLEAN_SCHEMA,
})

export const RECEIPT_SCHEMA = objectOf(
  'Receipt',
  {
    transactionHash: HASH_SCHEMA,
    transactionIndex: QUANTITY_SCHEMA,
    blockHash: HASH_SCHEMA,
    blockNumber: QUANTITY_SCHEMA,
    from: ADDRESS_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    cumulativeGasUsed: QUANTITY_SCHEMA,
    effectiveGasPrice: QUANTITY_SCHEMA,
    gasUsed: QUANTITY_SCHEMA,
    contractAddress: orNull(ADDRESS_SCHEMA),
    logs: listOf(LOG_SCHEMA),
    logsBloom: BLOOM_SCHEMA,
    type: QUANTITY_SCHEMA,
    status: QUANTITY_SCHEMA,
    root: HASH_SCHEMA,
    blobGasUsed: QUANTITY_SCHEMA,
    blobGasPrice: QUANTITY_SCHEMA,
  },
  ['status', 'root', 'blobGasUsed', 'blobGasPrice'],
)

const HEADER_MEMBERS = {
  number: orNull(QUANTITY_SCHEMA),
  hash: orNull(HASH_SCHEMA),
  parentHash: HASH_SCHEMA,
  proposer: ADDRESS_SCHEMA,
  miner: ADDRESS_SCHEMA,
  nonce: { type: 'string', pattern: '^0x[0-9a-f]{16}$' },
  mixHash: HASH_SCHEMA,
  sha3Uncles: HASH_SCHEMA,
  logsBloom: BLOOM_SCHEMA,
  transactionsRoot: HASH_SCHEMA,
  stateRoot: HASH_SCHEMA,
  receiptsRoot: HASH_SCHEMA,
  difficulty: QUANTITY_SCHEMA,
  totalDifficulty: QUANTITY_SCHEMA,
  baseFeePerGas: QUANTITY_SCHEMA,
  extraData: DATA_SCHEMA,
  size: QUANTITY_SCHEMA,
  gasLimit: QUANTITY_SCHEMA,
  gasUsed: QUANTITY_SCHEMA,
  timestamp: QUANTITY_SCHEMA,
  withdrawalsRoot: HASH_SCHEMA,
  blobGasUsed: QUANTITY_SCHEMA,
  excessBlobGas: QUANTITY_SCHEMA,
  parentBeaconBlockRoot: HASH_SCHEMA,
  requestsHash: HASH_SCHEMA,
}
const LATER_MEMBERS = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
  'withdrawals',
]
const WITHDRAWAL_SCHEMA = objectOf('Withdrawal', {
  index: QUANTITY_SCHEMA,
  validatorIndex: QUANTITY_SCHEMA,
  address: ADDRESS_SCHEMA,
  amount: QUANTITY_SCHEMA,
})
const BLOCK_MEMBERS = {
  ...HEADER_MEMBERS,
  transactions: listOf({ anyOf: [HASH_SCHEMA, TRANSACTION_SCHEMA] }),
  /** Empty except on a recorded proof-of-work chain (fixture mode). */
  uncles: listOf(HASH_SCHEMA),
  withdrawals: listOf(WITHDRAWAL_SCHEMA),
}

export const HEADER_SCHEMA = objectOf('Header', HEADER_MEMBERS, LATER_MEMBERS)
export const BLOCK_SCHEMA = objectOf('Block', BLOCK_MEMBERS, LATER_MEMBERS)

const SIMULATED_CALL_SCHEMA = objectOf(
  'SimulatedCall',
  {
    returnData: DATA_SCHEMA,
    logs: listOf(LOG_SCHEMA),
    gasUsed: QUANTITY_SCHEMA,
    maxUsedGas: QUANTITY_SCHEMA,
    status: { enum: ['0x0', '0x1'] },
    error: objectOf('CallError', { code: { type: 'integer' }, message: STRING_SCHEMA, data: DATA_SCHEMA }, ['data']),
  },
  ['error'],
)

export const SIMULATED_BLOCK_SCHEMA = objectOf(
  'SimulatedBlock',
  { ...BLOCK_MEMBERS, calls: listOf(SIMULATED_CALL_SCHEMA) },
  LATER_MEMBERS,
)

/** Result of docs/interface.md#consensus-block. */
export const CONSENSUS_BLOCK_SCHEMA = objectOf(
  'ConsensusBlock',
  {
    ...BLOCK_MEMBERS,
    consensus: objectOf('Consensus', {
      round: INTEGER_SCHEMA,
      prepareMsgNum: INTEGER_SCHEMA,
      commitMsgNum: INTEGER_SCHEMA,
      validators: listOf(ADDRESS_SCHEMA),
    }),
  },
  LATER_MEMBERS,
)

export const SYNC_SCHEMA: JsonSchema = {
  anyOf: [
    { const: false },
    objectOf(
      'SyncStatus',
      {
        startingBlock: QUANTITY_SCHEMA,
        currentBlock: QUANTITY_SCHEMA,
        highestBlock: QUANTITY_SCHEMA,
        // Chunks of a state snapshot.
        pulledStates: QUANTITY_SCHEMA,
        knownStates: QUANTITY_SCHEMA,
      },
      ['pulledStates', 'knownStates'],
    ),
  ],
}
