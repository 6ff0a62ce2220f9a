import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import {
  ADDRESS_SCHEMA,
  address,
  BOOLEAN_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  hash,
  index,
  nonce8,
  QUANTITY_SCHEMA,
  quantity,
} from '../../codecs/scalars.ts'
import { hashes, listOf, objectOf, orNull, quantities, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { encodeProofHeaderInfo } from '../../encode/block.ts'
import { invalidParams, serverError } from '../../errors.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { codec, optional } from '../../router/method-description.ts'

const proofRef = codec<number | Hex>('header', { anyOf: [index.schema, hash.schema] }, value =>
  typeof value === 'string' && value.length === 66 ? hash.parse(value) : index.parse(value),
)

const PROOF_HEADER_SCHEMA = objectOf('ProofHeader', {
  ...quantities('number', 'anchorNumber', 'timestamp'),
  ...hashes('id', 'parent', 'target', 'anchorHash'),
  miner: ADDRESS_SCHEMA,
  algorithm: STRING_SCHEMA,
  extraNonce: DATA_SCHEMA,
  nonce: DATA_SCHEMA,
  mixHash: DATA_SCHEMA,
  includedIn: orNull(QUANTITY_SCHEMA),
})

/** Reads of the proof chain (docs/design/proof-chain.md). */
export const nativeProofChain = {
  native_proofBlockNumber: method({
    summary: 'Height of the newest proof header',
    result: QUANTITY_SCHEMA,
    requires: 'proofChain',
    handler: ({ proofChain }) => toQuantity(proofChain.height()),
  }),
  native_getProofHeader: method({
    summary: 'A proof header by height or id',
    params: [proofRef],
    result: orNull(PROOF_HEADER_SCHEMA),
    requires: 'proofChain',
    handler: async ({ proofChain }, ref) => {
      const header = await proofChain.header(ref)
      return header === undefined ? null : encodeProofHeaderInfo(header)
    },
  }),
  native_getProofHeaderRange: method({
    summary: 'Proof headers of a range of heights, both ends included',
    params: [index, index],
    result: listOf(PROOF_HEADER_SCHEMA),
    notes: `At most ${RPC_LIMITS.blockRange} headers; ends at the newest that is known.`,
    requires: 'proofChain',
    weight: 20,
    handler: async ({ proofChain, client }, from, to) => {
      if (from > to) throw invalidParams('invalid header range: from is after to')
      if (to - from >= RPC_LIMITS.blockRange)
        throw invalidParams(`header range too large: at most ${RPC_LIMITS.blockRange} headers`)
      const headers: object[] = []
      // Numbers beyond exact ones do not count up.
      const last = Math.min(to, proofChain.height())
      for (let height = from; height <= last; height++) {
        await sliceOver(client)
        const header = await proofChain.header(height)
        if (header === undefined && headers.length > 0) break
        if (header !== undefined) headers.push(encodeProofHeaderInfo(header))
      }
      return headers
    },
  }),
} satisfies MethodTable

/** Work for miners of the proof chain (docs/design/proof-chain.md#mining); served only by nodes with mining enabled. */
export const miningOfNamespace = (namespace: string): MethodTable => ({
  [`${namespace}_getWork`]: method({
    summary: 'Work for a miner: [sealHash, seed, target, number]',
    params: [optional(address)],
    result: {
      type: 'array',
      prefixItems: [HASH_SCHEMA, HASH_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA],
      minItems: 4,
      items: false,
    },
    requires: 'mining',
    handler: ({ mining }, coinbase) => {
      const work = mining.work(coinbase)
      if (work === undefined) throw serverError('no mining work available yet')
      return work
    },
  }),
  [`${namespace}_submitWork`]: method({
    effect: 'change',
    summary: 'A found nonce; false when it is stale or wrong',
    params: [nonce8, hash, hash],
    result: BOOLEAN_SCHEMA,
    requires: 'mining',
    handler: ({ mining }, nonce, sealHash, mixHash) => mining.submitWork(nonce, sealHash, mixHash),
  }),
  [`${namespace}_submitHashrate`]: method({
    summary: "A miner's hash rate, for eth_hashrate",
    params: [quantity, hash],
    result: BOOLEAN_SCHEMA,
    requires: 'mining',
    handler: ({ mining }, rate, id) => mining.submitHashrate(rate, id),
  }),
})
