import type { ChunkStream } from '@tandem/base/async/chunk-stream.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { ChainBlock } from '../chain/store/types.ts'
import type { AccountRangeRequest, StorageRangeRequest } from '../chain/trace/worker-protocol.ts'
import type { CallRequest } from '../evm/calls/types.ts'
import type { TraceConfig } from '../evm/tracers/config.ts'

/** Parts of a committed block that identify it in another thread. */
export type TracedBlock = Pick<ChainBlock, 'header' | 'hash' | 'extra'>

/** JSON that another thread produces while it is read. Reading fails with CodedError<TraceError>, CallError or MISSING_STATE. */
export type TraceAnswer = ChunkStream<Uint8Array>

/** Execution with a tracer, off the main thread. */
export interface TracePort {
  transaction(block: TracedBlock, index: number, config: TraceConfig): TraceAnswer
  /** Returns a list of `{txHash, result}`. */
  block(block: TracedBlock, config: TraceConfig): TraceAnswer
  /** Traces a call on the state after the block, or after its first `after` transactions. */
  call(block: TracedBlock, call: CallRequest, after: number | undefined, config: TraceConfig): TraceAnswer
  storageRange(block: TracedBlock, range: StorageRange): TraceAnswer
  accountRange(block: TracedBlock, range: AccountRange): TraceAnswer
  /** Returns addresses that differ before the first block and after the last; `credited`: those that the protocol paid in them. */
  modifiedAccounts(blocks: readonly TracedBlock[], credited: readonly Hex[]): TraceAnswer
}

/** Range of an account's slots, ordered by keccak of the slot. */
type StorageRange = Omit<StorageRangeRequest, 'kind' | 'block'>
/** Range of accounts, ordered by keccak of the address. */
type AccountRange = Omit<AccountRangeRequest, 'kind' | 'block' | 'stateRoot'>
