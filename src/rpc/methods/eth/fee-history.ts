import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { toQuantity } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Header } from '../../../primitives/header.ts'
import { baseFeeGasCap } from '../../../rules/money/base-fee.ts'
import { blockNumber } from '../../codecs/block.ts'
import { asArray } from '../../codecs/object.ts'
import { invalidValue, parseQuantity, QUANTITY_SCHEMA } from '../../codecs/scalars.ts'
import { listOf, NUMBER_SCHEMA, objectOf } from '../../codecs/schemas.ts'
import { serverError } from '../../errors.ts'
import { type BlockNumberRef, namedNumber } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec, optional } from '../../router/method-description.ts'

/** Block count in hex or decimal; values above the limit mean the limit. */
export const blockCount: Codec<number> = codec(
  'blockCount',
  { anyOf: [QUANTITY_SCHEMA, { type: 'integer', minimum: 0 }] },
  value => {
    const count = typeof value === 'number' ? value : Number(parseDecimalOrHex(value))
    if (!Number.isInteger(count) || count < 0) return invalidValue('block count is not a whole number')
    return Math.min(count, RPC_LIMITS.feeHistoryBlocks)
  },
)

const parseDecimalOrHex = (value: unknown): bigint =>
  typeof value === 'string' && /^[0-9]{1,20}$/.test(value) ? BigInt(value) : parseQuantity(value, 64)

export const percentiles: Codec<readonly number[]> = codec(
  'rewardPercentiles',
  { type: 'array', items: { type: 'number', minimum: 0, maximum: 100 } },
  value => {
    const points = asArray(value, '[]float64')
    return points.map(point => (typeof point === 'number' ? point : invalidValue('a percentile is not a number')))
  },
)

const checkPercentiles = (points: readonly number[]): void => {
  if (points.length > RPC_LIMITS.feeHistoryPercentiles)
    throw serverError(`invalid reward percentile: over the query limit ${RPC_LIMITS.feeHistoryPercentiles}`)
  points.forEach((point, i) => {
    if (point < 0 || point > 100) throw serverError(`invalid reward percentile: ${point}`)
    const before = points[i - 1]
    if (before !== undefined && point < before)
      throw serverError(`invalid reward percentile: #${i - 1}:${before} >= #${i}:${point}`)
  })
}

const newestOf = (view: ChainView, ref: BlockNumberRef): number => {
  const head = view.head().header.number
  const number = namedNumber(ref, head)
  if (typeof number === 'bigint' || number > head)
    throw serverError(`request beyond head block: requested ${number}, head ${head}`)
  return number
}

/** Result of eth_feeHistory: base fees up to the next block's, gas used over the base fee rule's bound, tips paid. */
const feeHistory = async (
  { view, client }: Pick<Context, 'view' | 'client'>,
  count: number,
  newest: BlockNumberRef,
  points: readonly number[] | undefined,
): Promise<object> => {
  checkPercentiles(points ?? [])
  if (count === 0) return { oldestBlock: '0x0', baseFeePerGas: [], gasUsedRatio: [] }
  const last = newestOf(view, newest)
  const oldest = Math.max(0, last - count + 1)
  const fees: string[] = []
  const ratios: number[] = []
  const rewards: (readonly string[])[] = []
  /** Tips of a block without transactions, one list for all of them: a history holds as many numbers as a response may. */
  const zeros = points?.map(() => '0x0')
  for (let number = oldest; number <= last; number++) {
    await sliceOver(client)
    const header = await view.headerByNumber(number)
    if (header === undefined) throw serverError(`block ${number} is not available`)
    fees.push(toQuantity(header.baseFeePerGas ?? 0n))
    ratios.push(fullness(view, header))
    if (points === undefined || zeros === undefined) continue
    rewards.push(header.gasUsed === 0n ? zeros : await rewardsOf(view, header, points))
  }
  fees.push(toQuantity(await feeAfter(view, last)))
  return {
    oldestBlock: toQuantity(oldest),
    baseFeePerGas: fees,
    gasUsedRatio: ratios,
    ...(points !== undefined && { reward: rewards }),
  }
}

const fullness = (view: ChainView, header: Header): number => {
  const bound = baseFeeGasCap(header, view.params.baseFee)
  return header.gasUsed >= bound ? 1 : Number(header.gasUsed) / Number(bound)
}

const feeAfter = async (view: ChainView, number: number): Promise<bigint> => {
  if (number >= view.head().header.number) return view.nextBaseFee()
  const child = await view.headerByNumber(number + 1)
  return child?.baseFeePerGas ?? 0n
}

/** Returns the tip at each percentile of the block's gas, with transactions ordered by tip; zeros for an empty block. */
const rewardsOf = async (view: ChainView, header: Header, points: readonly number[]): Promise<string[]> => {
  const shares = header.gasUsed === 0n ? [] : ((await view.tips(header.number)) ?? [])
  let at = 0
  let sum = shares[0]?.gas ?? 0n
  return points.map(point => {
    const threshold = BigInt(Math.floor((Number(header.gasUsed) * point) / 100))
    while (sum < threshold && at < shares.length - 1) sum += shares[++at]?.gas ?? 0n
    return toQuantity(shares[at]?.tip ?? 0n)
  })
}

export const ethFees = {
  eth_feeHistory: method({
    summary: 'Base fees, fullness and paid tips of past blocks',
    params: [blockCount, blockNumber, optional(percentiles)],
    result: objectOf(
      'FeeHistory',
      { oldestBlock: QUANTITY_SCHEMA, baseFeePerGas: listOf(QUANTITY_SCHEMA), gasUsedRatio: listOf(NUMBER_SCHEMA) },
      { reward: listOf(listOf(QUANTITY_SCHEMA)) },
    ),
    notes:
      'At most 1,024 blocks. The ratio divides by 60 M gas, the bound of the base fee rule, not by the block limit.',
    weight: 5,
    handler: (context, count, newest, points) => feeHistory(context, count, newest, points),
  }),
} satisfies MethodTable
