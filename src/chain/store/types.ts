import type { Hex } from '@tandem/base/bytes.ts'
import type { CouncilMember } from '../../config/genesis/genesis.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { ExtraData } from '../../primitives/consensus/extra-data.ts'
import type { Header } from '../../primitives/header.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../primitives/receipt/internal-transfer.ts'
import type { Log } from '../../primitives/receipt/log.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import type { ValidatorStatus } from '../../rules/council/validator-activity.ts'
import type { AsyncStateReader, StateReader } from '../../state/state-reader.ts'
import type { StateProof } from '../../state/trie/types.ts'
import type { LogCriteria } from './log-criteria.ts'

/** Committed block for readers. Immutable. */
export interface ChainBlock extends Block {
  readonly extra: ExtraData
}

export interface TransactionLocation {
  readonly number: number
  readonly index: number
}

/** Committed transaction with its position. */
export interface IncludedTransaction {
  readonly transaction: Transaction
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly blockTimestamp: number
  readonly index: number
  /** Base fee of its block; 0n before London. */
  readonly baseFeePerGas: bigint
}

export interface IncludedReceipt extends IncludedTransaction {
  readonly receipt: Receipt
  /** Block-wide index of its first log. */
  readonly firstLog: number
}

/** Receipt of a committed transaction with logs that are decoded while they are read, once and to the end. */
export interface StreamedReceipt extends Omit<IncludedReceipt, 'receipt'> {
  readonly receipt: Omit<Receipt, 'logs' | 'logsBloom'>
  readonly logs: Iterable<Log>
  /** Returns the bloom of the logs that were read. */
  bloom(): Uint8Array
}

/** Block built on the head from the pool's executable transactions; clients see neither number nor hash. */
export interface PendingBlock {
  readonly block: ChainBlock
  readonly receipts: readonly Receipt[]
  /** Accounts and slots after the pending block. */
  readonly state: StateReader
}

/** Inclusive range of blocks. */
interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

export interface LogQuery extends LogCriteria, BlockRange {}

export interface LogEntry extends Log {
  readonly blockNumber: number
  readonly blockTimestamp: number
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
}

/** Errors of reads, thrown as CodedError. */
export type ChainReadError =
  | { readonly code: 'MISSING_STATE'; readonly root: Hex }
  /** A block below those the node has: it began with a snapshot, and older blocks are not fetched (yet). */
  | { readonly code: 'HISTORY_MISSING'; readonly earliest: number }
  /** `fits`: the longest range from the first block that has no more. */
  | { readonly code: 'TOO_MANY_RESULTS'; readonly limit: number; readonly fits?: BlockRange }
  | { readonly code: 'RESULTS_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'QUERY_TIMEOUT'; readonly timeoutMs: number }
  /** The query queue is full, in total or for this client; the caller may try later. */
  | { readonly code: 'QUERY_QUEUE_FULL'; readonly limit: number }
  | { readonly code: 'QUERY_CLIENT_FULL'; readonly limit: number }

/** `committed` is emitted after the block, receipts and lookups are on disk and readable. */
export interface CommittedEvent {
  readonly block: ChainBlock
  readonly receipts: readonly Receipt[]
}

/** Emitted on a development chain when the head's state was edited, or blocks were reverted. */
export interface ChainReplaced {
  readonly head: ChainBlock
  /** Logs of the reverted blocks, oldest first; undefined when none was reverted. */
  readonly removedLogs: readonly LogEntry[] | undefined
}

/** Council member at some block, with its status. */
export interface CouncilMemberStatus extends CouncilMember {
  readonly status: ValidatorStatus
}

export interface SyncStatus {
  readonly startingBlock: number
  readonly currentBlock: number
  readonly highestBlock: number
  /** Chunks of a snapshot during snapshot sync: imported, and in total. */
  readonly states?: { readonly pulled: number; readonly known: number }
}

/** Reads of the chain for the servers (RPC, explorer). Numbers beyond the head and unknown hashes return undefined. */
export interface ChainView {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  /** Recipient of the foundation's shares. */
  readonly foundation: Hex
  head(): ChainBlock
  /** First block of the contiguous range of stored blocks up to the head, besides genesis; 0: all are stored. */
  earliest(): number
  /** Without the transactions, which may be thousands. */
  headerByNumber(number: number): Promise<Header | undefined>
  blockByNumber(number: number): Promise<ChainBlock | undefined>
  blockByHash(hash: Hex): Promise<ChainBlock | undefined>
  receipts(number: number): Promise<readonly Receipt[] | undefined>
  /** Receipts of a block one after the other, for blocks whose logs are megabytes. */
  receiptStream(number: number): Promise<Iterable<StreamedReceipt> | undefined>
  /** Wei that contracts of a block moved, and contracts that they created, in order; none of a block that was not executed here. */
  internalTransfers(number: number): Promise<Iterable<BlockInternalTransfer>>
  /** Causes of the failures of a block's transactions, in order; none of a block that was not executed here. */
  failedExecutions(number: number): Promise<Iterable<FailedExecution>>
  /** Returns the gas of a block by the tip it paid above the base fee, lowest tip first. */
  tips(number: number): Promise<readonly TipShare[] | undefined>
  locate(transactionHash: Hex): Promise<TransactionLocation | undefined>
  /** Returns one transaction or receipt by hash, without decoding the rest of the block. */
  transaction(hash: Hex): Promise<IncludedTransaction | undefined>
  receipt(transactionHash: Hex): Promise<IncludedReceipt | undefined>
  /** Returns the certificate of the block as this node stored it; undefined for genesis. */
  certificate(number: number): Promise<Certificate | undefined>
  /** Returns the committee of a height up to head + 1, in proposer order of round 0 (docs/design/council.md#committee); undefined: unknown. */
  committee(number: number): readonly Hex[] | undefined
  /** Returns the committee of a height in the order of the bits of its certificate. */
  committeeByIndex(number: number): readonly Hex[] | undefined
  /** Returns the council from which it was drawn. */
  council(number: number): readonly CouncilMemberStatus[] | undefined
  /** Oldest block whose state is kept. */
  oldestState(): number
  /** State of the head, synchronous. */
  readonly headState: StateReader
  /** Returns the state after a block; throws MISSING_STATE when pruned. */
  stateAt(number: number): Promise<AsyncStateReader>
  pending(): Promise<PendingBlock>
  /** Returns the base fee of the head's child, wei. */
  nextBaseFee(): bigint
  logs(query: LogQuery): Promise<readonly LogEntry[]>
  prove(number: number, address: Hex, slots: readonly Hex[]): Promise<StateProof>
  /** false: in sync. */
  syncing(): SyncStatus | false
  onCommitted(listener: (event: CommittedEvent) => void): () => void
  /** Present on development chains only. */
  onReplaced?(listener: (event: ChainReplaced) => void): () => void
}

/** Gas that paid a tip, in wei per gas above the base fee. */
export interface TipShare {
  readonly tip: bigint
  readonly gas: bigint
}
