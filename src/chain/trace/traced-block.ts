import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { decodeHeader } from '../../primitives/header.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { type Hex, ZERO_HASH } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'
import { BodyRow } from '../store/body-row.ts'
import type { TraceBlock } from './worker-protocol.ts'

/* Blocks as the worker reads them from the store, uncached, since a development chain may revert blocks. */

const BLOCKHASH_BLOCKS = 256

export const tracedBlockBody = async (store: Store, { number, hash }: TraceBlock): Promise<BodyRow> => {
  const row = await store.get(BUCKETS.body, numberKey(number))
  const body = row && new BodyRow(row)
  if (body?.blockHash === hash) return body
  throw new CodedError<TraceError>({ code: 'TRACE_FAILED', reason: `block ${hash} is not there any more` })
}

/** Environment of the block's transactions. */
export const tracedBlockEnv = (store: Store, params: ChainParams, { env }: TraceBlock): BlockEnv => ({
  ...env,
  params,
  blockHash(number) {
    if (number < 0 || number >= env.number || number < env.number - BLOCKHASH_BLOCKS) return ZERO_HASH
    return hashOf(store, number) ?? ZERO_HASH
  },
})

/** Read from the child's parentHash. */
const hashOf = (store: Store, number: number): Hex | undefined => {
  const row = store.getSync(BUCKETS.header, numberKey(number + 1))
  return row && decodeHeader(row).parentHash
}
