import type { JsonSchema } from '../router/raw-json.ts'
import { ADDRESS_SCHEMA, BOOLEAN_SCHEMA, DATA_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA } from './scalars.ts'

// Schemas of results, shared by OpenRPC, the documentation and the tests that check responses.

export const NULL_SCHEMA: JsonSchema = { type: 'null' }
export const STRING_SCHEMA: JsonSchema = { type: 'string' }
export const NUMBER_SCHEMA: JsonSchema = { type: 'number' }
export const INTEGER_SCHEMA: JsonSchema = { type: 'integer', minimum: 0 }
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, NULL_SCHEMA] })
export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** Returns a function that gives the schema to each of the members it is called with. */
const membersOf =
  (schema: JsonSchema) =>
  (...names: readonly string[]): Record<string, JsonSchema> =>
    Object.fromEntries(names.map(name => [name, schema]))
export const quantities = membersOf(QUANTITY_SCHEMA)
export const hashes = membersOf(HASH_SCHEMA)
export const addresses = membersOf(ADDRESS_SCHEMA)
export const integers = membersOf(INTEGER_SCHEMA)
export const strings = membersOf(STRING_SCHEMA)
export const booleans = membersOf(BOOLEAN_SCHEMA)

/** Schema of an object with exactly these members; those in `optional` may be absent. */
export const objectOf = (
  title: string,
  required: Record<string, JsonSchema>,
  optional: Record<string, JsonSchema> = {},
): JsonSchema => ({
  title,
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
})

export const BLOOM_SCHEMA: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]{512}$' }

export const ACCESS_LIST_SCHEMA = listOf(
  objectOf('AccessTuple', { address: ADDRESS_SCHEMA, storageKeys: listOf(HASH_SCHEMA) }),
)

/** Authorization of EIP-7702. */
const AUTHORIZATION_SCHEMA = objectOf('Authorization', {
  address: ADDRESS_SCHEMA,
  ...quantities('chainId', 'nonce', 'yParity', 'r', 's'),
})

/** Members of a transaction that only some types have. */
const TYPED_MEMBERS = {
  ...quantities('maxFeePerGas', 'maxPriorityFeePerGas'),
  accessList: ACCESS_LIST_SCHEMA,
  authorizationList: listOf(AUTHORIZATION_SCHEMA),
}

export const TRANSACTION_SCHEMA = objectOf(
  'Transaction',
  {
    blockHash: orNull(HASH_SCHEMA),
    blockNumber: orNull(QUANTITY_SCHEMA),
    blockTimestamp: orNull(QUANTITY_SCHEMA),
    transactionIndex: orNull(QUANTITY_SCHEMA),
    from: ADDRESS_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    hash: HASH_SCHEMA,
    input: DATA_SCHEMA,
    ...quantities('gas', 'gasPrice', 'nonce', 'value', 'type', 'v', 'r', 's'),
  },
  {
    ...quantities('chainId', 'yParity', 'maxFeePerBlobGas'),
    ...TYPED_MEMBERS,
    blobVersionedHashes: listOf(HASH_SCHEMA),
  },
)

/** Transaction that is to be signed. */
export const UNSIGNED_SCHEMA = objectOf(
  'UnsignedTransaction',
  {
    from: ADDRESS_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    input: DATA_SCHEMA,
    ...quantities('type', 'nonce', 'gas', 'value', 'chainId'),
  },
  { gasPrice: QUANTITY_SCHEMA, ...TYPED_MEMBERS },
)

export const LOG_SCHEMA = objectOf('Log', {
  address: ADDRESS_SCHEMA,
  topics: listOf(HASH_SCHEMA),
  data: DATA_SCHEMA,
  ...hashes('blockHash', 'transactionHash'),
  ...quantities('blockNumber', 'blockTimestamp', 'transactionIndex', 'logIndex'),
  removed: BOOLEAN_SCHEMA,
})

export const RECEIPT_SCHEMA = objectOf(
  'Receipt',
  {
    ...hashes('blockHash', 'transactionHash'),
    ...quantities('blockNumber', 'transactionIndex', 'cumulativeGasUsed', 'effectiveGasPrice', 'gasUsed', 'type'),
    from: ADDRESS_SCHEMA,
    to: orNull(ADDRESS_SCHEMA),
    contractAddress: orNull(ADDRESS_SCHEMA),
    logs: listOf(LOG_SCHEMA),
    logsBloom: BLOOM_SCHEMA,
  },
  { ...quantities('status', 'blobGasUsed', 'blobGasPrice'), root: HASH_SCHEMA },
)

const HEADER_MEMBERS = {
  number: orNull(QUANTITY_SCHEMA),
  hash: orNull(HASH_SCHEMA),
  ...addresses('proposer', 'miner'),
  nonce: { type: 'string', pattern: '^0x[0-9a-f]{16}$' },
  ...hashes('parentHash', 'mixHash', 'sha3Uncles', 'transactionsRoot', 'stateRoot', 'receiptsRoot'),
  logsBloom: BLOOM_SCHEMA,
  ...quantities('difficulty', 'totalDifficulty', 'size', 'gasLimit', 'gasUsed', 'timestamp'),
  extraData: DATA_SCHEMA,
}
const LATER_MEMBERS = {
  ...quantities('baseFeePerGas', 'blobGasUsed', 'excessBlobGas'),
  ...hashes('withdrawalsRoot', 'parentBeaconBlockRoot', 'requestsHash'),
}
const WITHDRAWAL_SCHEMA = objectOf('Withdrawal', {
  address: ADDRESS_SCHEMA,
  ...quantities('index', 'validatorIndex', 'amount'),
})

/** Schema of a block object with further members. */
const blockOf = (title: string, more: Record<string, JsonSchema> = {}): JsonSchema =>
  objectOf(
    title,
    {
      ...HEADER_MEMBERS,
      transactions: listOf({ anyOf: [HASH_SCHEMA, TRANSACTION_SCHEMA] }),
      /** Empty except on a recorded proof-of-work chain (fixture mode). */
      uncles: listOf(HASH_SCHEMA),
      ...more,
    },
    { ...LATER_MEMBERS, withdrawals: listOf(WITHDRAWAL_SCHEMA) },
  )

export const HEADER_SCHEMA = objectOf('Header', HEADER_MEMBERS, LATER_MEMBERS)
export const BLOCK_SCHEMA = blockOf('Block')

const SIMULATED_CALL_SCHEMA = objectOf(
  'SimulatedCall',
  {
    returnData: DATA_SCHEMA,
    logs: listOf(LOG_SCHEMA),
    ...quantities('gasUsed', 'maxUsedGas'),
    status: { enum: ['0x0', '0x1'] },
  },
  { error: objectOf('CallError', { code: { type: 'integer' }, message: STRING_SCHEMA }, { data: DATA_SCHEMA }) },
)

export const SIMULATED_BLOCK_SCHEMA = blockOf('SimulatedBlock', { calls: listOf(SIMULATED_CALL_SCHEMA) })

/** Result of docs/interface.md#consensus-block. */
export const CONSENSUS_BLOCK_SCHEMA = blockOf('ConsensusBlock', {
  consensus: objectOf('Consensus', {
    ...integers('round', 'prepareMsgNum', 'commitMsgNum'),
    validators: listOf(ADDRESS_SCHEMA),
  }),
})

export const SYNC_SCHEMA: JsonSchema = {
  anyOf: [
    { const: false },
    objectOf(
      'SyncStatus',
      quantities('startingBlock', 'currentBlock', 'highestBlock'),
      // Chunks of a state snapshot.
      quantities('pulledStates', 'knownStates'),
    ),
  ],
}
