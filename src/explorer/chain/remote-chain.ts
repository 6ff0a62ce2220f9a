import { type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { ADDRESS_BYTES, itemsOf, TOPIC_BYTES } from '../../chain/logs/log-criteria.ts'
import type {
  ChainBlock,
  ChainReadError,
  IncludedReceipt,
  LogEntry,
  LogQuery,
  TransactionLocation,
} from '../../chain/types.ts'
import type { ChainParams } from '../../config/networks.ts'
import { PROOF_BOUNDS } from '../../config/protocol-bounds.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../primitives/extra-data.ts'
import { EMPTY_LIST_HASH } from '../../primitives/header.ts'
import type { FailedExecution } from '../../primitives/receipt/failed-execution.ts'
import type { BlockInternalTransfer } from '../../primitives/receipt/internal-transfer.ts'
import type { Receipt } from '../../primitives/receipt/receipt.ts'
import { endsCycle } from '../../rules/council/cycle.ts'
import type { AsyncStateReader } from '../../state/state-reader.ts'
import { recordOfBlock } from '../indexer/block-record.ts'
import type { BlockRecord, ProofRecord } from '../store/records.ts'
import type { BlockReads, ChainSource, LogSearchLimits } from './chain-source.ts'
import { blockFromAnswer, headerFromAnswer, logEntryFromAnswer, receiptsFromAnswer } from './decode-block.ts'
import { failedFromAnswer } from './decode-failed.ts'
import { internalTransferFromAnswer } from './decode-internal.ts'
import { isIncludedIn, proofFromAnswer } from './decode-proof.ts'
import type { NodeClient } from './node-client.ts'
import { remoteNodeError } from './node-error.ts'
import { RemoteState } from './remote-state.ts'

/** Gas of a transfer to an address without code. */
const PLAIN_GAS = 21_000n
/** Gas that code pays at least for moving wei or creating a contract. */
const LEAST_GAS = 2_000n
/** Headers of one answer; more than a block makes final. */
const PROOF_RANGE = 100

/** The committed chain of a node elsewhere, over its JSON-RPC. Reads throw CodedError<RemoteNodeError>. */
export class RemoteChain implements ChainSource {
  readonly params: ChainParams
  readonly blocks: BlockReads
  readonly #node: NodeClient

  constructor(node: NodeClient, params: ChainParams) {
    this.#node = node
    this.params = params
    this.blocks = {
      numberOf: hash => this.#numberOf(hash),
      header: number => this.#header(number),
      block: number => this.#block(number),
      certificate: number => this.#certificate(number),
      locate: hash => this.#locate(hash),
    }
  }

  /** The last head that is known while the node is away; undefined before the first. */
  async headNumber(): Promise<number | undefined> {
    // Blocks of a development chain may be taken back without a new head.
    if (this.#node.head !== undefined && !this.params.devHelpers) return this.#node.head
    try {
      return (await this.#node.call('eth_blockNumber')).integer()
    } catch (error) {
      if (isCoded(error) && error.code === 'NODE_UNREACHABLE') return this.#node.head
      throw error
    }
  }

  async includes(number: number, hash: Hex): Promise<boolean> {
    const header = await this.#node.call('eth_getHeaderByNumber', toQuantity(number))
    return !header.isNull && header.member('hash').hex(32) === hash
  }

  async record(number: number): Promise<BlockRecord | undefined> {
    const at = toQuantity(number)
    const [blockAnswer, receiptAnswer] = await Promise.all([
      this.#node.call('eth_getBlockByNumber', at, true),
      this.#node.call('eth_getBlockReceipts', at),
    ])
    if (blockAnswer.isNull || receiptAnswer.isNull) return undefined
    const block = blockFromAnswer(blockAnswer, number)
    const receipts = receiptsFromAnswer(receiptAnswer, block)
    if (receipts === undefined) return undefined
    const [internal, failed, proofs, coinbases] = await Promise.all([
      this.#internalTransfers(block),
      this.#failedExecutions(block, receipts),
      this.#proofs(block),
      this.#coinbases(block),
    ])
    return internal && failed && recordOfBlock(block, receipts, { internal, failed, proofs, coinbases }, this.params)
  }

  async receipt({ number, index }: TransactionLocation): Promise<IncludedReceipt | undefined> {
    const at = toQuantity(number)
    const [block, receiptAnswer] = await Promise.all([this.#block(number), this.#node.call('eth_getBlockReceipts', at)])
    const receipts = block && !receiptAnswer.isNull ? receiptsFromAnswer(receiptAnswer, block) : undefined
    const transaction = block?.transactions[index]
    const receipt = receipts?.[index]
    if (block === undefined || receipts === undefined || transaction === undefined || receipt === undefined)
      return undefined
    return {
      transaction,
      blockHash: block.hash,
      blockNumber: number,
      index,
      baseFeePerGas: block.header.baseFeePerGas ?? 0n,
      receipt,
      firstLog: receipts.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0),
    }
  }

  async failedExecution({ number, index }: TransactionLocation): Promise<FailedExecution | undefined> {
    const block = await this.#block(number)
    const receiptAnswer = block && (await this.#node.call('eth_getBlockReceipts', toQuantity(number)))
    const receipts = block && receiptAnswer && !receiptAnswer.isNull && receiptsFromAnswer(receiptAnswer, block)
    const failed = receipts ? await this.#failedExecutions(block, receipts) : undefined
    return failed?.find(({ transactionIndex }) => transactionIndex === index)
  }

  async logs(
    { addresses, topics, fromBlock, toBlock }: LogQuery,
    limits: LogSearchLimits,
  ): Promise<readonly LogEntry[]> {
    const filter = {
      fromBlock: toQuantity(fromBlock),
      toBlock: toQuantity(toBlock),
      ...(addresses.byteLength > 0 && { address: itemsOf(addresses, ADDRESS_BYTES) }),
      topics: topics.map(list => (list.byteLength === 0 ? null : itemsOf(list, TOPIC_BYTES))),
    }
    const tooMany = new CodedError<ChainReadError>({ code: 'TOO_MANY_RESULTS', limit: limits.results })
    const answer = await this.#node.call('eth_getLogs', filter).catch((error: unknown) => {
      throw isCoded(error) && error.code === 'NODE_REFUSED' ? tooMany : error
    })
    const items = answer.items()
    if (items.length > limits.results) throw tooMany
    return items.map(logEntryFromAnswer)
  }

  async onState<T>(work: (state: AsyncStateReader) => T | Promise<T>): Promise<T> {
    return work(new RemoteState(this.#node))
  }

  forget(): void {
    // Nothing is kept.
  }

  close(): Promise<void> {
    return this.#node.close()
  }

  /** undefined: the node has another block at the number by now. */
  async #internalTransfers({
    header,
    hash,
    transactions,
  }: ChainBlock): Promise<readonly BlockInternalTransfer[] | undefined> {
    // Every transaction is a plain transfer: no code was run.
    if (header.gasUsed === PLAIN_GAS * BigInt(transactions.length)) return []
    const transfers: BlockInternalTransfer[] = []
    for (;;) {
      const page = [header.number, transfers.length].map(toQuantity)
      const answer = await this.#node.call('native_getInternalTransfers', ...page)
      if (answer.isNull || answer.member('blockHash').hex(32) !== hash) return undefined
      for (const item of answer.member('transfers').items())
        transfers.push(internalTransferFromAnswer(item, transactions.length))
      const isLast = answer.member('next').isNull
      if (isLast) return transfers
      // The node decides how often it is asked, as far as the gas of the block allows.
      if (BigInt(transfers.length) * LEAST_GAS > header.gasUsed || Number(page[1]) === transfers.length)
        throw remoteNodeError({
          code: 'NODE_ANSWER_INVALID',
          reason: `block ${header.number} has too many internal transfers`,
        })
    }
  }

  /** Likewise. */
  async #failedExecutions(
    { header, hash }: ChainBlock,
    receipts: readonly Receipt[],
  ): Promise<readonly FailedExecution[] | undefined> {
    const failed: FailedExecution[] = []
    if (receipts.every(({ status }) => status !== 0)) return failed
    for (;;) {
      const page = [header.number, failed.length].map(toQuantity)
      const answer = await this.#node.call('native_getFailedTransactions', ...page)
      if (answer.isNull || answer.member('blockHash').hex(32) !== hash) return undefined
      const items = answer.member('failed').items()
      for (const item of items) failed.push(failedFromAnswer(item, receipts, failed.at(-1)?.transactionIndex ?? -1))
      if (answer.member('next').isNull) return failed
      // Each page has failures behind those before it, so the block bounds their number.
      if (items.length === 0)
        throw remoteNodeError({
          code: 'NODE_ANSWER_INVALID',
          reason: `block ${header.number} has an empty page of failures`,
        })
    }
  }

  /** Proof headers that a block made final, in their order. */
  async #proofs({ header: { number }, extra }: ChainBlock): Promise<readonly ProofRecord[]> {
    if (extra.proofHeadersHash === EMPTY_LIST_HASH || extra.proofHeadersHash === ZERO_HASH) return []
    const headers = await this.#proofHeaders(extra.proofTip, PROOF_RANGE)
    return headers.filter(header => isIncludedIn(header, number)).map(proofFromAnswer)
  }

  /** Coinbases of the headers that share the miners' part of the cycle that a block ends. */
  async #coinbases({ header: { number }, extra }: ChainBlock): Promise<readonly Hex[]> {
    if (!endsCycle(number, this.params.rewards.cycleBlocks) || extra.proofTip === ZERO_HASH) return []
    const headers = await this.#proofHeaders(extra.proofTip, PROOF_BOUNDS.paidHeaders)
    return headers.map(header => header.member('miner').hex(20))
  }

  /** Newest headers up to a tip, ascending. */
  async #proofHeaders(tipId: Hex, count: number) {
    const tip = await this.#node.call('native_getProofHeader', tipId)
    if (tip.isNull) return []
    const last = tip.member('number').integer()
    const range = [Math.max(1, last - count + 1), last].map(toQuantity)
    return (await this.#node.call('native_getProofHeaderRange', ...range)).items()
  }

  async #numberOf(hash: Hex): Promise<number | undefined> {
    const header = await this.#node.call('eth_getHeaderByHash', hash)
    return header.isNull ? undefined : header.member('number').integer()
  }

  async #header(number: number): Promise<Pick<ChainBlock, 'header' | 'extra'> | undefined> {
    const answer = await this.#node.call('eth_getHeaderByNumber', toQuantity(number))
    if (answer.isNull) return undefined
    const header = headerFromAnswer(answer)
    return { header, extra: decodeExtraData(header.extraData) }
  }

  async #block(number: number): Promise<ChainBlock | undefined> {
    const answer = await this.#node.call('eth_getBlockByNumber', toQuantity(number), true)
    return answer.isNull ? undefined : blockFromAnswer(answer, number)
  }

  /** The one in the next block; undefined at the head. */
  async #certificate(number: number): Promise<Certificate | undefined> {
    return (await this.#header(number + 1))?.extra.parentCertificate ?? undefined
  }

  async #locate(hash: Hex): Promise<TransactionLocation | undefined> {
    const answer = await this.#node.call('eth_getTransactionByHash', hash)
    if (answer.isNull || answer.member('blockNumber').isNull) return undefined
    return { number: answer.member('blockNumber').integer(), index: answer.member('transactionIndex').integer() }
  }
}
