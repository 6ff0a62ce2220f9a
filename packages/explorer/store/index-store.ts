import type { Hex } from '@tandem/base/bytes.ts'
import type {
  BlockRecord,
  FailedExecution,
  IndexPosition,
  InternalRecord,
  ProofRecord,
  RewardRole,
  TokenMetadata,
  TokenStandard,
  TransactionKind,
  TransactionRecord,
  TransferRecord,
} from './records.ts'

/** Sort key of the last item of the previous page. */
export type PageKey = readonly (number | string)[]

/** Page of a list: after a key, or after a number of items. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
  readonly after: PageKey | null
  /** Oldest first, in lists that are ordered by block. */
  readonly ascending?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Key of the last item, for the next page; null at the end. */
  readonly next: PageKey | null
}

export type BlockRow = Omit<BlockRecord, 'transactions' | 'transfers' | 'internal' | 'failed' | 'proofs'> & {
  readonly transactionCount: number
}

export interface TransactionRow extends TransactionRecord {
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly timestamp: number
}

export interface TransferRow extends TransferRecord {
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly timestamp: number
}

export interface InternalRow extends InternalRecord {
  readonly blockNumber: number
  readonly transactionHash: Hex
  readonly timestamp: number
}

export interface FailedRow extends FailedExecution {
  readonly blockNumber: number
}

export interface ProofRow extends ProofRecord {
  /** Block that made it final. */
  readonly blockNumber: number
}

/** Blocks that a list is limited to; both ends included. */
export interface ListRange {
  readonly fromBlock?: number
  readonly toBlock?: number
}

export interface InternalFilter extends ListRange {
  /** Sender or recipient. */
  readonly party?: Hex
}

export interface TransactionFilter extends ListRange {
  readonly kind?: TransactionKind
  readonly from?: Hex
  readonly to?: Hex
  /** Sender, recipient or contract created. */
  readonly party?: Hex
}

export interface TransferFilter extends ListRange {
  readonly token?: Hex
  readonly party?: Hex
  readonly standard?: TokenStandard
}

export interface AccountRow {
  readonly address: Hex
  readonly transactions: number
  readonly sent: number
  readonly received: number
  readonly transfers: number
  readonly internal: number
  readonly isContract: boolean
  readonly creator: Hex | null
  readonly creationTransaction: Hex | null
  readonly firstBlock: number
  readonly lastBlock: number
}

export interface ProducerRow {
  readonly address: Hex
  readonly mined: number
  readonly proposed: number
  readonly minedWei: bigint
  readonly proposedWei: bigint
}

/** Earnings of an address in a cycle. */
export interface RewardRow {
  readonly address: Hex
  readonly cycle: number
  readonly role: RewardRole
  readonly blocks: number
  readonly wei: bigint
}

export interface TokenRow extends TokenMetadata {
  readonly address: Hex
  readonly standard: TokenStandard
  readonly transfers: number
  readonly holders: number
}

export interface HolderRow {
  readonly owner: Hex
  readonly balance: bigint
}

export interface TokenBalanceRow {
  readonly token: TokenRow
  readonly balance: bigint
}

export interface DayRow {
  readonly day: number
  readonly blocks: number
  readonly transactions: number
  readonly gasUsed: bigint
  readonly valueWei: bigint
  readonly feesWei: bigint
  readonly burntWei: bigint
  readonly gasPriceSum: bigint
  readonly firstTimestamp: number
  readonly lastTimestamp: number
  readonly activeAddresses: number
  readonly newAddresses: number
  readonly newContracts: number
}

/** Proof headers of an hour, counted from 1970. */
export interface ProofHourRow {
  readonly hour: number
  readonly headers: number
  /** Expected number of hashes. */
  readonly work: bigint
}

/** Proof headers of a UTC day. */
export interface ProofDayRow {
  readonly day: number
  readonly headers: number
  readonly miners: number
}

export interface IndexCounters {
  readonly blocks: number
  readonly transactions: number
  readonly transfers: number
  readonly internal: number
  readonly proofs: number
  readonly addresses: number
  readonly contracts: number
  readonly tokens: number
  readonly kinds: Readonly<Record<TransactionKind, number>>
}

export interface AddressLabel {
  readonly address: Hex
  readonly name: string
}

/** Result of the search over tokens and labels. */
export interface SearchRow {
  readonly address: Hex
  readonly kind: 'token' | 'label'
}

/** Reads of the index; each is consistent in itself. */
export interface IndexReader {
  position(): Promise<IndexPosition | undefined>
  counters(): Promise<IndexCounters>
  blocks(page: PageRequest): Promise<Page<BlockRow>>
  block(number: number): Promise<BlockRow | undefined>
  /** Newest first. */
  transactions(filter: TransactionFilter, page: PageRequest): Promise<Page<TransactionRow>>
  transactionsOfBlock(number: number, limit: number): Promise<readonly TransactionRow[]>
  transaction(number: number, index: number): Promise<TransactionRow | undefined>
  transfers(filter: TransferFilter, page: PageRequest): Promise<Page<TransferRow>>
  transfersOfTransaction(number: number, index: number, limit: number): Promise<readonly TransferRow[]>
  internalTransfers(filter: InternalFilter, page: PageRequest): Promise<Page<InternalRow>>
  internalOfTransaction(number: number, index: number, limit: number): Promise<readonly InternalRow[]>
  /** Cause of a transaction's failure; undefined: it succeeded, or the node did not know. */
  failedExecution(number: number, index: number): Promise<FailedRow | undefined>
  /** Blocks that an address mined or proposed, newest first. */
  blocksBy(role: 'miner' | 'proposer', address: Hex, page: PageRequest, range?: ListRange): Promise<Page<BlockRow>>
  /** Newest first. */
  proofHeaders(page: PageRequest): Promise<Page<ProofRow>>
  /** Oldest first; hours without headers are left out. */
  proofHours(fromHour: number): Promise<readonly ProofHourRow[]>
  /** Oldest first; days without headers are left out. */
  proofDays(fromDay: number): Promise<readonly ProofDayRow[]>
  account(address: Hex): Promise<AccountRow | undefined>
  /** undefined: it made no block. */
  producer(address: Hex): Promise<ProducerRow | undefined>
  /** Earnings of an address by cycle, newest first. */
  rewardsOf(address: Hex, page: PageRequest): Promise<Page<RewardRow>>
  /** Earnings of a cycle, by role and address. */
  rewardsOfCycle(cycle: number): Promise<readonly RewardRow[]>
  /** Ordered by blocks mined. */
  topMiners(limit: number): Promise<readonly ProducerRow[]>
  /** Ordered by transactions, then by address. */
  topAccounts(page: PageRequest): Promise<Page<AccountRow>>
  /** Ordered by transfers, then by address. */
  tokens(page: PageRequest): Promise<Page<TokenRow>>
  token(address: Hex): Promise<TokenRow | undefined>
  /** Ordered by balance, then by address; only balances above 0. */
  holders(token: Hex, page: PageRequest): Promise<Page<HolderRow>>
  /** undefined: the owner never had any, or has none. */
  balanceOf(token: Hex, owner: Hex): Promise<bigint | undefined>
  /** The last block not after a time, or the first not before it. */
  blockAt(timestamp: number, side: 'before' | 'after'): Promise<number | undefined>
  tokenBalances(owner: Hex, limit: number): Promise<readonly TokenBalanceRow[]>
  /** Newest first. */
  days(limit: number): Promise<readonly DayRow[]>
  /** `prefix` is lower case. */
  search(prefix: string, limit: number): Promise<readonly SearchRow[]>
  label(address: Hex): Promise<string | undefined>
  close(): Promise<void>
}

/** Single writer of an index. */
export interface IndexStore extends IndexReader {
  /** Adds blocks that follow the position, in one transaction with the position. */
  append(records: readonly BlockRecord[]): Promise<void>
  /** Likewise batches, all in one transaction; a batch is written while the next one is asked for. */
  appendAll(batches: AsyncIterable<readonly BlockRecord[]> | Iterable<readonly BlockRecord[]>): Promise<void>
  /** Many blocks follow: until `endBackfill` an empty index may be unable to serve lists. */
  beginBackfill(): Promise<void>
  /** Makes lists fast again, also where another process began; returns at once when they are. */
  endBackfill(): Promise<void>
  /** Removes every block above `number`; -1 empties the index. */
  rollback(number: number): Promise<void>
  /** Returns the tokens whose metadata must be read, those never read first. */
  tokensToRead(limit: number): Promise<readonly { readonly address: Hex; readonly standard: TokenStandard }[]>
  writeToken(address: Hex, metadata: TokenMetadata): Promise<void>
  /** Replaces the labels. */
  writeLabels(labels: readonly AddressLabel[]): Promise<void>
  /** Returns the differences between the running sums and a count from the rows; empty when there are none. */
  recount(): Promise<readonly string[]>
}
