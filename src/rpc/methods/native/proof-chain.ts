import { assert } from '../../../util/assert.ts'
import { type Hex, toQuantity } from '../../../util/bytes.ts'
import { codec } from '../../codecs/codec.ts'
import { ADDRESS_SCHEMA, hash, index, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import type { Context } from '../../context.ts'
import type { ProofHeaderInfo } from '../../ports.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { objectOf, orNull, STRING_SCHEMA } from '../../schemas.ts'

const proofChainOf = ({ proofChain }: Context) => {
  assert(proofChain !== undefined, 'a method is served only where its part exists')
  return proofChain
}

const proofRef = codec<number | Hex>('header', { anyOf: [index.schema, hash.schema] }, value =>
  typeof value === 'string' && value.length === 66 ? hash.parse(value) : index.parse(value),
)

const headerAnswer = (header: ProofHeaderInfo): object => ({
  ...header,
  number: toQuantity(header.number),
  timestamp: toQuantity(header.timestamp),
  includedIn: header.includedIn === null ? null : toQuantity(header.includedIn),
})

/** Reads of the proof chain (docs/design/proof-chain.md). */
export const nativeProofChain = {
  native_proofBlockNumber: method({
    summary: 'Height of the newest proof header',
    params: [],
    result: QUANTITY_SCHEMA,
    requires: 'proofChain',
    handler: context => toQuantity(proofChainOf(context).height()),
  }),
  native_getProofHeader: method({
    summary: 'A proof header by height or id',
    params: [proofRef],
    result: orNull(
      objectOf('ProofHeader', {
        number: QUANTITY_SCHEMA,
        id: hash.schema,
        parent: hash.schema,
        miner: ADDRESS_SCHEMA,
        algorithm: STRING_SCHEMA,
        target: hash.schema,
        timestamp: QUANTITY_SCHEMA,
        includedIn: orNull(QUANTITY_SCHEMA),
      }),
    ),
    requires: 'proofChain',
    handler: async (context, ref) => {
      const header = await proofChainOf(context).header(ref)
      return header === undefined ? null : headerAnswer(header)
    },
  }),
} satisfies MethodTable
