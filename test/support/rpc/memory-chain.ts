import { EMPTY_BYTES, type Hex, toWord, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { logEntries, loggedBlock } from '../../../src/chain/logs/log-query.ts'
import {
  includedReceiptsFromBlock,
  includedTransactionFromBlock,
  streamedReceipt,
} from '../../../src/chain/store/included.ts'
import { sumTips, tipsPaid } from '../../../src/chain/store/stored-block.ts'
import type {
  ChainBlock,
  ChainView,
  CommittedEvent,
  CouncilMemberStatus,
  IncludedReceipt,
  IncludedTransaction,
  LogEntry,
  LogQuery,
  PendingBlock,
  StreamedReceipt,
  SyncStatus,
  TipShare,
  TransactionLocation,
} from '../../../src/chain/store/types.ts'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { NETWORKS, type NetworkParams } from '../../../src/config/networks.ts'
import { recoverSender } from '../../../src/crypto/recovery/recover-sender.ts'
import { blockFromParts } from '../../../src/primitives/block.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import { type ExtraData, encodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header, ZERO_NONCE } from '../../../src/primitives/header.ts'
import { bloomFromLogs, mergeBlooms } from '../../../src/primitives/receipt/bloom.ts'
import type { FailedExecution } from '../../../src/primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../../src/primitives/receipt/internal-transfer.ts'
import type { Log } from '../../../src/primitives/receipt/log.ts'
import type { Receipt } from '../../../src/primitives/receipt/receipt.ts'
import { receiptsRoot, transactionsRoot } from '../../../src/primitives/roots.ts'
import { effectiveGasPrice, type Transaction, withSender } from '../../../src/primitives/transaction/transaction.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../../src/state/account.ts'
import type { StateReader } from '../../../src/state/state-reader.ts'
import type { StateProof } from '../../../src/state/trie/types.ts'
import { signedBy } from '../signed-by.ts'

export const KEY = new Uint8Array(32).fill(7)
export const VALIDATORS: readonly Hex[] = [1, 2, 3, 4].map(n => `0x${String(n).repeat(40)}` as Hex)
const GWEI = 10n ** 9n

/** A transaction that is really signed, so that hash and sender hold. */
export const signedTransaction = (
  fields: Partial<UnsignedTransaction> & { readonly nonce: number },
  params = NETWORKS.mainnet,
): Transaction => {
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId: params.chainId,
    gasLimit: 100_000n,
    maxFeePerGas: 30n * GWEI,
    maxPriorityFeePerGas: 30n * GWEI,
    to: VALIDATORS[0] ?? null,
    value: 1n,
    data: EMPTY_BYTES,
    accessList: [],
    ...fields,
  }
  const decoded = signedBy(unsigned, KEY)
  return withSender(decoded, recoverSender(decoded.raw))
}

export const SENDER: Hex = signedTransaction({ nonce: 0 }).from

interface Content {
  readonly transactions?: readonly Transaction[]
  /** Logs of each transaction. */
  readonly logs?: readonly (readonly Log[])[]
}

/** Blocks in memory with the shapes of real ones; state is a plain map that never changes. */
export class MemoryChain implements ChainView {
  readonly params: NetworkParams
  readonly foundation = VALIDATORS[1] ?? SENDER
  readonly blocks: ChainBlock[] = []
  readonly #receipts: Receipt[][] = []
  readonly #locations = new Map<Hex, TransactionLocation>()
  readonly #listeners = new Set<(event: CommittedEvent) => void>()
  readonly accounts = new Map<Hex, Account>()
  readonly codes = new Map<Hex, Uint8Array>()
  readonly slots = new Map<string, Hex>()
  syncStatus: SyncStatus | false = false
  /** Blocks below have no state. */
  prunedBelow = 0
  pendingTransactions: readonly Transaction[] = []
  released = 0

  constructor(params: NetworkParams = NETWORKS.mainnet) {
    this.params = params
    this.accounts.set(SENDER, { nonce: 5, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH, storageRoot: EMPTY_ROOT })
    this.append()
  }

  get genesisHash(): Hex {
    return this.#at(0).hash
  }

  #at(number: number): ChainBlock {
    const block = this.blocks[number]
    if (block === undefined) throw new Error(`no block ${number}`)
    return block
  }

  #build({ transactions = [], logs = [] }: Content): { block: ChainBlock; receipts: Receipt[] } {
    const number = this.blocks.length
    const parent = this.blocks[number - 1]
    const baseFee = 25n * GWEI
    let cumulative = 0n
    const receipts = transactions.map((transaction, i): Receipt => {
      const own = logs[i] ?? []
      cumulative += 21_000n
      return {
        type: transaction.type,
        status: 1,
        cumulativeGasUsed: cumulative,
        gasUsed: 21_000n,
        effectiveGasPrice: effectiveGasPrice(transaction, baseFee),
        contractAddress: transaction.to === null ? (`0x${'cc'.repeat(20)}` as Hex) : null,
        logsBloom: bloomFromLogs(own),
        logs: own,
      }
    })
    const extra: ExtraData = {
      version: 1,
      vanity: EMPTY_BYTES,
      proposer: number === 0 ? ZERO_ADDRESS : (VALIDATORS[number % 4] ?? ZERO_ADDRESS),
      parentCertificate: number < 2 ? null : certificate(1),
      proofTip: ZERO_HASH,
      proofHeadersHash: EMPTY_LIST_HASH,
      evidenceRoot: EMPTY_LIST_HASH,
    }
    const header = {
      parentHash: parent?.hash ?? ZERO_HASH,
      sha3Uncles: EMPTY_LIST_HASH,
      miner: ZERO_ADDRESS,
      stateRoot: toWord(BigInt(number + 1)),
      transactionsRoot: transactionsRoot(transactions),
      receiptsRoot: receiptsRoot(receipts),
      logsBloom: mergeBlooms(receipts.map(receipt => receipt.logsBloom)),
      difficulty: 1n,
      number,
      gasLimit: this.params.blockGasLimit,
      gasUsed: cumulative,
      timestamp: 1_700_000_000 + number,
      extraData: encodeExtraData(extra),
      mixHash: ZERO_HASH,
      nonce: ZERO_NONCE,
      baseFeePerGas: baseFee,
    }
    const block = { ...blockFromParts(header, { transactions, proofHeaders: [], evidence: [] }), extra }
    return { block, receipts }
  }

  append(content: Content = {}): ChainBlock {
    const { block, receipts } = this.#build(content)
    this.blocks.push(block)
    this.#receipts.push(receipts)
    block.transactions.forEach(({ hash }, index) => {
      this.#locations.set(hash, { number: block.header.number, index })
    })
    for (const listener of this.#listeners) listener({ block, receipts })
    return block
  }

  /** Drops the receipts of blocks that were taken back. */
  forgetReceipts(from: number): void {
    this.#receipts.length = from
  }

  head(): ChainBlock {
    return this.#at(this.blocks.length - 1)
  }
  oldestState(): number {
    return this.prunedBelow
  }
  earliest(): number {
    return 0
  }
  async headerByNumber(number: number): Promise<Header | undefined> {
    return this.blocks[number]?.header
  }
  async blockByNumber(number: number): Promise<ChainBlock | undefined> {
    return this.blocks[number]
  }
  async blockByHash(hash: Hex): Promise<ChainBlock | undefined> {
    return this.blocks.find(block => block.hash === hash)
  }
  async receipts(number: number): Promise<readonly Receipt[] | undefined> {
    return this.#receipts[number]
  }
  async receiptStream(number: number): Promise<Iterable<StreamedReceipt> | undefined> {
    const receipts = this.#receipts[number]
    return receipts && includedReceiptsFromBlock(this.#at(number), receipts).map(streamedReceipt)
  }
  async internalTransfers(): Promise<readonly BlockInternalTransfer[]> {
    return [{ transactionIndex: 0, kind: 'call', from: VALIDATORS[0] ?? SENDER, to: SENDER, value: 5n }]
  }
  async failedExecutions(): Promise<readonly FailedExecution[]> {
    return [{ transactionIndex: 0, error: 'execution reverted', output: new Uint8Array([1, 2, 3, 4]) }]
  }
  async tips(number: number): Promise<readonly TipShare[] | undefined> {
    const block = this.blocks[number]
    return block && sumTips(tipsPaid(block, this.#receipts[number] ?? []))
  }
  async locate(hash: Hex): Promise<TransactionLocation | undefined> {
    return this.#locations.get(hash)
  }
  async transaction(hash: Hex): Promise<IncludedTransaction | undefined> {
    const place = this.#locations.get(hash)
    return place && includedTransactionFromBlock(this.#at(place.number), place.index)
  }
  async receipt(hash: Hex): Promise<IncludedReceipt | undefined> {
    const place = this.#locations.get(hash)
    return place && includedReceiptsFromBlock(this.#at(place.number), this.#receipts[place.number] ?? [])[place.index]
  }
  async certificate(number: number): Promise<Certificate | undefined> {
    return number === 0 ? undefined : certificate(0)
  }
  committee(number: number): readonly Hex[] {
    return [...VALIDATORS.slice(number % 4), ...VALIDATORS.slice(0, number % 4)]
  }
  committeeByIndex(): readonly Hex[] {
    return VALIDATORS
  }
  council(): readonly CouncilMemberStatus[] {
    return VALIDATORS.map((validator, index) => ({
      name: `Validator ${index + 1}`,
      validator,
      owner: SENDER,
      reward: SENDER,
      admission: index + 1,
      stakeWei: 35n,
      status: index === 3 ? 'inactive' : 'active',
    }))
  }

  readonly headState: StateReader = {
    account: address => this.accounts.get(address),
    storage: (address, slot) => this.slots.get(address + slot) ?? ZERO_HASH,
    code: address => this.codes.get(address) ?? EMPTY_BYTES,
  }

  async stateAt(number: number) {
    if (number < this.prunedBelow)
      throw new CodedError({ code: 'MISSING_STATE', root: this.#at(number).header.stateRoot })
    const { account, storage, code } = this.headState
    return {
      account: async (address: Hex) => account(address),
      storage: async (address: Hex, slot: Hex) => storage(address, slot),
      code: async (address: Hex) => code(address),
      release: () => {
        this.released++
      },
    }
  }

  async pending(): Promise<PendingBlock> {
    return { ...this.#build({ transactions: this.pendingTransactions }), state: this.headState }
  }
  nextBaseFee(): bigint {
    return 25n * GWEI
  }

  async logs(query: LogQuery): Promise<readonly LogEntry[]> {
    const found: LogEntry[] = []
    for (let number = query.fromBlock; number <= query.toBlock; number++) {
      found.push(...logEntries(loggedBlock(this.#at(number), this.#receipts[number] ?? []), query))
      if (found.length > RPC_LIMITS.logResults)
        throw new CodedError({ code: 'TOO_MANY_RESULTS', limit: RPC_LIMITS.logResults })
    }
    return found
  }

  async prove(_number: number, address: Hex, slots: readonly Hex[]): Promise<StateProof> {
    const account = this.accounts.get(address)
    return {
      root: EMPTY_ROOT,
      address,
      accountProof: [Uint8Array.of(1, 2)],
      balance: account?.balance ?? 0n,
      nonce: account?.nonce ?? 0,
      codeHash: account?.codeHash ?? EMPTY_CODE_HASH,
      storageHash: EMPTY_ROOT,
      storageProof: slots.map(key => ({ key, value: 3n, proof: [Uint8Array.of(3)] })),
    }
  }

  syncing(): SyncStatus | false {
    return this.syncStatus
  }
  onCommitted(listener: (event: CommittedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

const certificate = (round: number): Certificate => ({
  round,
  bitmap: Uint8Array.of(0b111),
  seals: [1, 2, 3].map(n => new Uint8Array(65).fill(n)),
})
