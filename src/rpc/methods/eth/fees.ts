import { blockNumber } from '../../codecs/block.ts'
import { optional } from '../../codecs/codec.ts'
import { QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { listOf, NUMBER_SCHEMA, objectOf } from '../../schemas.ts'
import { blockCount, feeHistory, percentiles } from './fee-history.ts'

export const ethFees = {
  eth_feeHistory: method({
    summary: 'Base fees, fullness and paid tips of past blocks',
    params: [blockCount, blockNumber, optional(percentiles)],
    result: objectOf(
      'FeeHistory',
      {
        oldestBlock: QUANTITY_SCHEMA,
        baseFeePerGas: listOf(QUANTITY_SCHEMA),
        gasUsedRatio: listOf(NUMBER_SCHEMA),
        reward: listOf(listOf(QUANTITY_SCHEMA)),
      },
      ['reward'],
    ),
    notes:
      'At most 1,024 blocks. The ratio divides by 60 M gas, the bound of the base fee rule, not by the block limit.',
    weight: 5,
    handler: (context, count, newest, points) => feeHistory(context, count, newest, points),
  }),
} satisfies MethodTable
