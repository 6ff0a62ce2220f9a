import { address, BOOLEAN_SCHEMA, HASH_SCHEMA, hash, nonce8, QUANTITY_SCHEMA, quantity } from '../../codecs/scalars.ts'
import { serverError } from '../../errors.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { optional } from '../../router/method-description.ts'

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
