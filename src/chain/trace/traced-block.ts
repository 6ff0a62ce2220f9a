import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import { storedBlockHash } from '../../evm/block-env.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { BodyRow } from '../store/body-row.ts'
import type { TraceBlock } from './worker-protocol.ts'

/* Blocks as the worker reads them from the store, uncached, since a development chain may revert blocks. */

export const tracedBlockBody = async (store: Store, { number, hash }: TraceBlock): Promise<BodyRow> => {
  const row = await store.get(BUCKETS.body, numberKey(number))
  const body = row && new BodyRow(row)
  if (body?.blockHash === hash) return body
  throw new CodedError<TraceError>({ code: 'TRACE_FAILED', reason: `block ${hash} is not there any more` })
}

/** Environment of the block's transactions. */
export const tracedBlockEnv = (store: Store, params: ChainParams, { number, hash, env }: TraceBlock): BlockEnv => ({
  ...env,
  params,
  blockHash(wanted) {
    if (wanted >= number) return wanted === number ? hash : ZERO_HASH
    return storedBlockHash(store, wanted) ?? ZERO_HASH
  },
})
