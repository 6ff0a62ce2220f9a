import type { CouncilMember } from '../config/genesis.ts'
import type { NetworkParams } from '../config/networks.ts'
import type { Block } from '../primitives/block.ts'
import type { Certificate } from '../primitives/consensus/certificate.ts'
import type { ExtraData } from '../primitives/extra-data.ts'
import type { Header } from '../primitives/header.ts'
import type { Log } from '../primitives/log.ts'
import type { Receipt } from '../primitives/receipt.ts'
import type { Transaction } from '../primitives/transaction.ts'
import type { ValidatorStatus } from '../rules/validator-activity.ts'
import type { AsyncStateReader, StateReader } from '../state/state-reader.ts'
import type { StateProof } from '../state/trie/prove-account.ts'
import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/nonce.ts'
import type { LogCriteria } from './logs/log-criteria.ts'
import type { TipShare } from './store/paid-tips.ts'

/** A committed block as reads want it. Immutable. */
export interface ChainBlock extends Block {
  readonly extra: ExtraData
}

export interface TransactionLocation {
  readonly number: number
  readonly index: number
}

/** A committed transaction and where it stands. */
export interface IncludedTransaction {
  readonly transaction: Transaction
  readonly blockHash: Hex
  readonly blockNumber: number
  readonly index: number
  /** Of its block; 0n before London. */
  readonly baseFeePerGas: bigint
}

export interface IncludedReceipt extends IncludedTransaction {
  readonly receipt: Receipt
  /** Index in the block of its first log. */
  readonly firstLog: number
}

/** A block built on the head from the pool's executable transactions; it has no number and no hash for clients. */
export interface PendingBlock {
  readonly block: ChainBlock
  readonly receipts: readonly Receipt[]
  /** Whole accounts and slots as the pending block leaves them. */
  readonly state: StateReader
}

/** Of an inclusive range. */
export interface LogQuery extends LogCriteria {
  readonly fromBlock: number
  readonly toBlock: number
}

export interface LogEntry extends Log {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
}

/** Thrown as CodedError by reads. */
export type ChainReadError =
  | { readonly code: 'MISSING_STATE'; readonly root: Hex }
  /** A block before those that the node has: it began with a snapshot, and they have not come (yet). */
  | { readonly code: 'HISTORY_MISSING'; readonly earliest: number }
  | { readonly code: 'TOO_MANY_RESULTS'; readonly limit: number }
  | { readonly code: 'RESULTS_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'QUERY_TIMEOUT'; readonly timeoutMs: number }
  /** More queries wait than may, of all clients or of the one; the caller may try later. */
  | { readonly code: 'QUERY_QUEUE_FULL'; readonly limit: number }
  | { readonly code: 'QUERY_CLIENT_FULL'; readonly limit: number }

/** `committed` is emitted after the block, receipts and lookups are on disk and readable. */
export interface CommittedEvent {
  readonly block: ChainBlock
  readonly receipts: readonly Receipt[]
}

/** On a development chain the head's state was edited, or blocks were taken back. */
export interface ChainReplaced {
  readonly head: ChainBlock
  /** Logs of the blocks taken back, oldest first; undefined when none was taken back. */
  readonly removedLogs: readonly LogEntry[] | undefined
}

/** A member of the council that serves at some block, and how it stands. */
export interface CouncilMemberStatus extends CouncilMember {
  readonly standing: ValidatorStatus
}

export interface SyncStatus {
  readonly startingBlock: number
  readonly currentBlock: number
  readonly highestBlock: number
  /** While a snapshot of the state is fetched: its pieces, those that are in and all. */
  readonly states?: { readonly pulled: number; readonly known: number }
}

/** What the faces (RPC, explorer) may read. Numbers beyond the head and unknown hashes answer undefined. */
export interface ChainView {
  readonly params: NetworkParams
  readonly genesisHash: Hex
  head(): ChainBlock
  /** Without the transactions, which may be thousands. */
  headerByNumber(number: number): Promise<Header | undefined>
  blockByNumber(number: number): Promise<ChainBlock | undefined>
  blockByHash(hash: Hex): Promise<ChainBlock | undefined>
  receipts(number: number): Promise<readonly Receipt[] | undefined>
  /** What the gas of a block paid above its base fee, the lowest tip first. */
  tips(number: number): Promise<readonly TipShare[] | undefined>
  locate(transactionHash: Hex): Promise<TransactionLocation | undefined>
  /** One transaction, one receipt, by hash: the rest of the block is not decoded. */
  transaction(hash: Hex): Promise<IncludedTransaction | undefined>
  receipt(transactionHash: Hex): Promise<IncludedReceipt | undefined>
  /** The block's own certificate as this node stored it; undefined for genesis. */
  certificate(number: number): Promise<Certificate | undefined>
  /** Committee of a height in proposer order of round 0 (docs/design/council.md#committee), head + 1 included; undefined: not known yet. */
  committee(number: number): readonly Hex[] | undefined
  /** The council it was drawn from. */
  council(number: number): readonly CouncilMemberStatus[] | undefined
  /** The head's state, synchronous. */
  readonly headState: StateReader
  /** State after a block; throws MISSING_STATE when pruned. */
  stateAt(number: number): Promise<AsyncStateReader>
  pending(): Promise<PendingBlock>
  /** Base fee of the head's child, wei. */
  nextBaseFee(): bigint
  logs(query: LogQuery): Promise<readonly LogEntry[]>
  prove(number: number, address: Hex, slots: readonly Hex[]): Promise<StateProof>
  /** false: in sync. */
  syncing(): SyncStatus | false
  onCommitted(listener: (event: CommittedEvent) => void): () => void
  /** Only on a development chain. */
  onReplaced?(listener: (event: ChainReplaced) => void): () => void
}

/** What the faces may ask of the transaction pool. */
export interface ClientPoolPort {
  /**
   * Decodes, recovers the sender (but where this node signed itself and names it), admits; answers the hash or throws a CodedError
   * (PoolError, DecodeError).
   */
  submit(raw: Uint8Array, sender?: Hex): Promise<Hex>
  get(hash: Hex): Transaction | undefined
  /** Next nonce counting the pool's executable transactions. */
  nextNonce(address: Hex): Nonce
  counts(): { readonly pending: number; readonly queued: number }
  content(): {
    readonly pending: ReadonlyMap<Hex, readonly Transaction[]>
    readonly queued: ReadonlyMap<Hex, readonly Transaction[]>
  }
  /** Hashes that no block of this node tries before a time, unix milliseconds: they were stopped for taking too long. */
  quarantined(): readonly { readonly hash: Hex; readonly untilMs: number }[]
  onPending(listener: (transaction: Transaction) => void): () => void
}
