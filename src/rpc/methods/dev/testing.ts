import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { count } from '../../codecs/dev.ts'
import { asArray, asObject, member, refuseMembers } from '../../codecs/object.ts'
import {
  ADDRESS_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  hash,
  invalidValue,
  parseAddress,
  parseBytes,
  parseHash,
  QUANTITY_SCHEMA,
} from '../../codecs/scalars.ts'
import { BLOOM_SCHEMA, hashes, listOf, objectOf, quantities } from '../../codecs/schemas.ts'
import { toQuantities } from '../../encode/hex.ts'
import type { MethodTable } from '../../router/method.ts'
import { type Codec, codec, optional } from '../../router/method-description.ts'
import { devMethod } from './dev-method.ts'

interface PayloadAttributes {
  readonly timestamp: number
  readonly env: { readonly prevRandao: Hex; readonly miner: Hex }
}

const NO_BLOBS = { blobGasUsed: 0, excessBlobGas: 0 }
const EMPTY_LIST = { type: 'array', maxItems: 0 }

/** Attributes of the engine API, without what a chain of its own has not: withdrawals and a beacon chain. */
const payloadAttributes: Codec<PayloadAttributes> = codec(
  'payloadAttributes',
  {
    type: 'object',
    required: ['timestamp', 'prevRandao', 'suggestedFeeRecipient'],
    properties: {
      timestamp: count.schema,
      prevRandao: HASH_SCHEMA,
      suggestedFeeRecipient: ADDRESS_SCHEMA,
      withdrawals: EMPTY_LIST,
      parentBeaconBlockRoot: { const: ZERO_HASH },
    },
  },
  value => {
    const object = asObject(value, 'engine.PayloadAttributes')
    const needed = <T>(name: string, parse: (value: unknown) => T): T =>
      member(object, name, parse) ?? invalidValue(`${name} is missing`)
    refuseMembers(object, ['withdrawals'], 'blocks have no withdrawals here')
    if ((member(object, 'parentBeaconBlockRoot', parseHash) ?? ZERO_HASH) !== ZERO_HASH)
      return invalidValue('parentBeaconBlockRoot: there is no beacon chain here, want zero')
    const env = {
      prevRandao: needed('prevRandao', parseHash),
      miner: needed('suggestedFeeRecipient', parseAddress),
    }
    return { timestamp: needed('timestamp', count.parse), env }
  },
)

const transactions: Codec<readonly Uint8Array[]> = codec('transactions', listOf(DATA_SCHEMA), value =>
  asArray(value, '[]hexutil.Bytes').map(parseBytes),
)

const extraData: Codec<Uint8Array> = codec(
  'extraData',
  { type: 'string', pattern: '^0x([0-9a-f]{2}){0,32}$' },
  value => {
    const bytes = parseBytes(value)
    return bytes.byteLength > 32 ? invalidValue('longer than 32 bytes') : bytes
  },
)

/** Methods of the execution APIs' namespace for tests. */
export const testing = {
  testing_buildBlockV1: devMethod({
    summary: 'Builds a block on the head, from these transactions or the pool, and commits nothing',
    params: [hash, payloadAttributes, optional(transactions), optional(extraData)],
    result: objectOf('BuiltPayload', {
      executionPayload: objectOf('ExecutionPayload', {
        ...hashes('parentHash', 'stateRoot', 'receiptsRoot', 'prevRandao', 'blockHash'),
        ...quantities('blockNumber', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas'),
        ...quantities(...Object.keys(NO_BLOBS)),
        feeRecipient: ADDRESS_SCHEMA,
        logsBloom: BLOOM_SCHEMA,
        extraData: DATA_SCHEMA,
        transactions: listOf(DATA_SCHEMA),
        withdrawals: EMPTY_LIST,
      }),
      blockValue: QUANTITY_SCHEMA,
      blobsBundle: objectOf('BlobsBundle', { commitments: EMPTY_LIST, proofs: EMPTY_LIST, blobs: EMPTY_LIST }),
      shouldOverrideBuilder: { const: false },
      executionRequests: EMPTY_LIST,
    }),
    notes:
      'No withdrawals, `parentBeaconBlockRoot` zero. Extra data goes to the header’s vanity; `targetGasLimit` has no effect. `blockValue` is the fee recipient’s.',
    weight: 50,
    handler: async ({ dev }, parentHash, { timestamp, env }, raws, vanity) => {
      const choices = { timestamp, env, ...(raws && { raws }), ...(vanity && { vanity }) }
      const { block, execution } = await dev.trial(parentHash, choices)
      const { stateRoot, receiptsRoot, number: blockNumber, gasLimit, gasUsed, baseFeePerGas = 0n } = block.header
      return {
        executionPayload: {
          ...{ parentHash, stateRoot, receiptsRoot, prevRandao: env.prevRandao, blockHash: block.hash },
          ...toQuantities({ blockNumber, gasLimit, gasUsed, timestamp, baseFeePerGas, ...NO_BLOBS }),
          feeRecipient: block.header.miner,
          logsBloom: bytesToHex(block.header.logsBloom),
          extraData: bytesToHex(block.header.extraData),
          transactions: block.transactions.map(({ raw }) => bytesToHex(raw)),
          withdrawals: [],
        },
        blockValue: toQuantity(execution.fees.miner),
        blobsBundle: { commitments: [], proofs: [], blobs: [] },
        shouldOverrideBuilder: false,
        executionRequests: [],
      }
    },
  }),
} satisfies MethodTable
