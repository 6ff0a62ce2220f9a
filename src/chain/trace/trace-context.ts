import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { ChainParams } from '../../config/networks.ts'
import { Replay } from '../../evm/block/replay.ts'
import { type BlockEnv, storedBlockHash } from '../../evm/block-env.ts'
import type { Engine } from '../../evm/engine.ts'
import { createPrefetchedReader, type Prefetcher } from '../../evm/prefetched-reader.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import type { JsonSink } from '../../evm/tracers/json-sink.ts'
import { openStateReader, type StoredState } from '../../state/history/stored-state.ts'
import type { StateReader } from '../../state/state-reader.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import { BodyRow } from '../store/body-row.ts'
import type { RequestTimer } from './request-timer.ts'
import type { TraceBlock } from './worker-protocol.ts'

/** Dependencies of one trace request. */
export interface TraceContext {
  readonly store: Store
  readonly params: BlockEnv['params']
  readonly engine: Engine
  readonly sink: JsonSink
  readonly requestTimer: RequestTimer
}

export interface LeasedState {
  readonly stored: StoredState
  readonly reader: StateReader
  readonly prefetch: Prefetcher | undefined
}

/** Provides the state after a block. Throws MISSING_STATE. */
export const withState = async <T>(
  store: Store,
  number: number,
  work: (state: LeasedState) => Promise<T>,
): Promise<T> => {
  const stored = await openStateReader(store, number)
  try {
    const readers =
      stored.sync === undefined ? createPrefetchedReader(stored) : { reader: stored.sync, prefetch: undefined }
    return await work({ stored, ...readers })
  } finally {
    stored.release()
  }
}

/** Starts a replay of a block's transactions on the state before it. */
export const withReplay = async <T>(
  { store, params, engine, requestTimer }: TraceContext,
  block: TraceBlock,
  work: (replay: Replay, body: BodyRow, state: LeasedState) => Promise<T>,
): Promise<T> => {
  const body = await tracedBlockBody(store, block)
  const env = tracedBlockEnv(store, params, block)
  return withState(store, block.number - 1, async state => {
    const { reader, prefetch } = state
    const replay = await Replay.begin({ reader, prefetch, env, engine, interrupt: requestTimer })
    return work(replay, body, state)
  })
}

/** Executes the first transactions of a block without a tracer. */
export const replayFirst = async (
  { requestTimer }: TraceContext,
  replay: Replay,
  body: BodyRow,
  count: number,
): Promise<void> => {
  for (let index = 0; index < count; index++) {
    await replay.run(body.transaction(index))
    await requestTimer.turn()
  }
}

/* Blocks as the worker reads them from the store, uncached, since a development chain may revert blocks. */

const tracedBlockBody = async (store: Store, { number, hash }: TraceBlock): Promise<BodyRow> => {
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
