import type { AccountRangeRequest, StorageRangeRequest } from '../../../chain/trace/worker-protocol.ts'
import type { ChainBlock } from '../../../chain/types.ts'
import type { CallRequest } from '../../../evm/calls/types.ts'
import type { TraceConfig } from '../../../evm/tracers/config.ts'
import type { ChunkStream } from '../../../util/async/chunk-stream.ts'
import type { Hex } from '../../../util/bytes.ts'

/** Enough of a committed block to find it again in another thread. */
export type TracedBlock = Pick<ChainBlock, 'header' | 'hash' | 'extra'>

/** JSON that is made while it is read, by another thread. Reading fails with a CodedError<TraceError>, a CallError or MISSING_STATE. */
export type TraceAnswer = ChunkStream<Uint8Array>

/** Execution with a tracer, off the main thread. */
export interface TracePort {
  transaction(block: TracedBlock, index: number, config: TraceConfig): TraceAnswer
  /** A list of `{txHash, result}`. */
  block(block: TracedBlock, config: TraceConfig): TraceAnswer
  /** A call on the state after the block, or after as many of its transactions as named. */
  call(block: TracedBlock, call: CallRequest, after: number | undefined, config: TraceConfig): TraceAnswer
  storageRange(block: TracedBlock, range: StorageRange): TraceAnswer
  accountRange(block: TracedBlock, range: AccountRange): TraceAnswer
  /** Addresses that differ between the states before the first block and after the last; `credited`: whom the protocol paid in them. */
  modifiedAccounts(blocks: readonly TracedBlock[], credited: readonly Hex[]): TraceAnswer
}

/** Slots of one account, in the order of their keccak. */
export type StorageRange = Omit<StorageRangeRequest, 'kind' | 'block'>
/** Accounts, in the order of their keccak. */
export type AccountRange = Omit<AccountRangeRequest, 'kind' | 'block' | 'stateRoot'>
