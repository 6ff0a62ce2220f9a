import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { TRACE_LIMITS } from '../../../config/limits/clients.ts'
import { block, blockNumber } from '../../codecs/block.ts'
import {
  ADDRESS_SCHEMA,
  address,
  BOOLEAN_SCHEMA,
  DATA_SCHEMA,
  data,
  HASH_SCHEMA,
  hash,
  invalidValue,
  parseBoolean,
  parseIndex,
  QUANTITY_SCHEMA,
} from '../../codecs/scalars.ts'
import { hashes, INTEGER_SCHEMA, listOf, objectOf, orNull, STRING_SCHEMA } from '../../codecs/schemas.ts'
import { serverError } from '../../errors.ts'
import type { TracedBlock } from '../../ports.ts'
import { type BlockRef, existingBlock } from '../../router/block-reads.ts'
import type { Context } from '../../router/context.ts'
import type { MethodTable } from '../../router/method.ts'
import { type Codec, codec, named, optional } from '../../router/method-description.ts'
import { type JsonSchema, StreamedJson } from '../../router/raw-json.ts'
import { committed, GENESIS, type TracingContext, traceMethod } from './trace.ts'

const HASH_BYTES = 32

/** Count as a JSON number or a QUANTITY. */
const count: Codec<number> = codec('count', { anyOf: [INTEGER_SCHEMA, QUANTITY_SCHEMA] }, value => {
  if (typeof value !== 'number') return parseIndex(value)
  return Number.isSafeInteger(value) && value >= 0 ? value : invalidValue('not a count')
})
const flag = (name: string): Codec<boolean | undefined> => optional(codec(name, BOOLEAN_SCHEMA, parseBoolean))

/** Returns the smallest key with this prefix. */
const startKey = (bytes: Uint8Array): Hex => {
  if (bytes.byteLength > HASH_BYTES) throw serverError(`a key has at most ${HASH_BYTES} bytes`)
  const key = new Uint8Array(HASH_BYTES)
  key.set(bytes)
  return bytesToHex(key)
}

const mapOf = (values: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: values })

const ACCOUNT_SCHEMA = objectOf(
  'DumpAccount',
  { balance: STRING_SCHEMA, nonce: INTEGER_SCHEMA, ...hashes('root', 'codeHash', 'key') },
  { code: DATA_SCHEMA, storage: mapOf(STRING_SCHEMA), address: ADDRESS_SCHEMA },
)

/** Returns the blocks after `from` up to `to`. */
const blocksBetween = async ({ view }: Context, from: number, to: number): Promise<readonly TracedBlock[]> => {
  if (from >= to) throw serverError(`start block height (${from}) must be less than end block height (${to})`)
  if (to - from > TRACE_LIMITS.modifiedBlocks)
    throw serverError(`at most ${TRACE_LIMITS.modifiedBlocks} blocks at once`)
  const blocks: TracedBlock[] = []
  for (let number = from + 1; number <= to; number++) blocks.push(await existingBlock(view, number))
  return blocks
}

const modified = async (context: TracingContext, startRef: BlockRef, endRef: BlockRef | undefined) => {
  const start = (await committed(context, startRef)).header.number
  if (endRef === undefined && start === 0) throw GENESIS
  const [from, to] =
    endRef === undefined ? [start - 1, start] : [start, (await committed(context, endRef)).header.number]
  const blocks = await blocksBetween(context, from, to)
  const credited = new Set<Hex>()
  for (const { header } of blocks) {
    const money = await context.economy?.rewards(header.number)
    for (const who of money?.rewards.keys() ?? []) credited.add(who)
  }
  return new StreamedJson(() => context.trace.modifiedAccounts(blocks, [...credited]))
}

const modifiedAccounts = traceMethod({
  summary: 'Accounts that blocks changed, in the order of their hashed addresses',
  params: [blockNumber, optional(blockNumber)],
  result: listOf(ADDRESS_SCHEMA),
  notes:
    'One argument: changed by that block. Two: different after the second from after the first; ' +
    `at most ${TRACE_LIMITS.modifiedBlocks} blocks. The state before them must still be there.`,
  handler: modified,
})

/** Debug methods that iterate the state, which is keyed by hash (docs/design/rpc.md#state-by-hash). */
export const debugState = {
  debug_storageRangeAt: traceMethod({
    summary: 'Storage of an account between the transactions of a block, in the order of the hashed slots',
    params: [block, named('txIndex', count), address, named('keyStart', data), named('maxResult', count)],
    result: objectOf('StorageRange', {
      storage: mapOf(objectOf('StorageEntry', { key: orNull(HASH_SCHEMA), value: HASH_SCHEMA })),
      nextKey: orNull(HASH_SCHEMA),
    }),
    notes:
      'Members of `storage` are named by the keccak of their slot; `key` is the slot where it is known (written by a transaction ' +
      `of the block before, or below 256), else null. At most ${TRACE_LIMITS.storageResults} at once; \`nextKey\` is where to go on.`,
    handler: async (context, ref, after, who, start, limit) => {
      const found = await committed(context, ref, after)
      if (found.header.number === 0) throw GENESIS
      const range = { after, address: who, start: startKey(start), limit: Math.min(limit, TRACE_LIMITS.storageResults) }
      return new StreamedJson(() => context.trace.storageRange(found, range))
    },
  }),
  debug_accountRange: traceMethod({
    summary: 'Accounts after a block, in the order of their hashed addresses',
    params: [
      block,
      named('start', data),
      named('maxResults', count),
      flag('nocode'),
      flag('nostorage'),
      flag('incompletes'),
    ],
    result: objectOf('Dump', { root: STRING_SCHEMA, accounts: mapOf(ACCOUNT_SCHEMA) }, { next: STRING_SCHEMA }),
    notes:
      'Addresses are known from the newest transactions; other accounts are left out, or with `incompletes` named ' +
      `\`pre(hash)\`. Storage holds the slots below 256. At most ${TRACE_LIMITS.rangeResults} at once; \`next\`, in base64, is where to go on.`,
    handler: async (context, ref, start, limit, noCode = false, noStorage = false, incompletes = false) => {
      const found = await committed(context, ref)
      const most = TRACE_LIMITS.rangeResults
      const range = {
        start: startKey(start),
        limit: limit === 0 ? most : Math.min(limit, most),
        withCode: !noCode,
        withStorage: !noStorage,
        incompletes,
      }
      return new StreamedJson(() => context.trace.accountRange(found, range))
    },
  }),
  debug_getModifiedAccountsByNumber: modifiedAccounts,
  debug_getModifiedAccountsByHash: { ...modifiedAccounts, params: [hash, optional(hash)] },
} satisfies MethodTable
