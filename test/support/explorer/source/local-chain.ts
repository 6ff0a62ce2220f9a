import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { BlockShares } from '@tandem/explorer/chain/decode.ts'
import type { ChainSource, HeadState } from '@tandem/explorer/chain/rpc-chain.ts'
import type { ChainRules } from '@tandem/explorer/chain/rules.ts'
import type {
  Block,
  BlockHeader,
  Decision,
  IncludedReceipt,
  LogEntry,
  LogQuery,
  LogSearchError,
  TransactionLocation,
} from '@tandem/explorer/chain/types.ts'
import { recordOfBlock } from '@tandem/explorer/indexer/block-record.ts'
import type { BlockRecord, FailedExecution, ProofRecord } from '@tandem/explorer/store/records.ts'
import { queryLogs } from '../../../../src/chain/logs/log-query.ts'
import { ProofRows } from '../../../../src/chain/proof/proof-rows.ts'
import { BlockStore } from '../../../../src/chain/store/block-store.ts'
import { readIncludedReceipt } from '../../../../src/chain/store/included.ts'
import { packCriteria } from '../../../../src/chain/store/log-criteria.ts'
import { readHead } from '../../../../src/chain/store/put-block.ts'
import type { ChainBlock } from '../../../../src/chain/store/types.ts'
import type { ChainParams } from '../../../../src/config/networks.ts'
import { decodeProofHeader, type ProofHeader, proofHeaderId } from '../../../../src/primitives/proof-header.ts'
import type { ReceiptWithoutBloom } from '../../../../src/primitives/receipt/receipt.ts'
import { cycleOf, endsCycle, lastOfCycle } from '../../../../src/rules/council/cycle.ts'
import { assignFees } from '../../../../src/rules/money/fees.ts'
import { mintedAt, rewardCredits, splitReward } from '../../../../src/rules/money/rewards.ts'
import { proofAlgorithmAt } from '../../../../src/rules/proof/proof-target.ts'
import { openStateReader } from '../../../../src/state/history/stored-state.ts'
import type { AsyncStateReader } from '../../../../src/state/state-reader.ts'
import type { Store } from '../../../../src/storage/store.ts'

interface LocalChainOptions {
  readonly store: Store
  readonly params: ChainParams
  readonly rules: ChainRules
  /** Members of the committee of a block, by their indexes. */
  readonly committee?: (number: number) => Promise<readonly Hex[] | undefined>
}

/** The committed chain in the database of the node that the explorer belongs to. */
export class LocalChain implements ChainSource {
  readonly blocks: BlockStore
  readonly store: Store
  readonly params: ChainParams
  readonly rules: ChainRules
  readonly state: HeadState
  readonly #proofRows: ProofRows
  readonly #committee: LocalChainOptions['committee']

  constructor({ store, params, rules, committee }: LocalChainOptions) {
    this.store = store
    this.params = params
    this.rules = rules
    this.blocks = new BlockStore(store)
    this.state = {
      account: address => this.#onState(async state => (await state.account(address)) ?? { balance: 0n, nonce: 0 }),
      code: address => this.#onState(state => state.code(address)),
      storage: (address, slot) => this.#onState(state => state.storage(address, slot)),
    }
    this.#proofRows = new ProofRows(params, store)
    this.#committee = committee
  }

  async headNumber(): Promise<number | undefined> {
    // Blocks of a development chain may have been taken back.
    this.blocks.forget()
    return readHead(this.store)
  }

  async includes(number: number, hash: Hex): Promise<boolean> {
    return (await this.numberOf(hash)) === number
  }

  header(number: number): Promise<BlockHeader | undefined> {
    return this.block(number)
  }

  async block(number: number): Promise<Block | undefined> {
    const block = await this.blocks.block(number)
    return block && blockOf(block)
  }

  numberOf(hash: Hex): Promise<number | undefined> {
    return this.blocks.numberOf(hash)
  }

  locate(hash: Hex): Promise<TransactionLocation | undefined> {
    return this.blocks.locate(hash)
  }

  async receipt(hash: Hex): Promise<IncludedReceipt | undefined> {
    const place = await this.locate(hash)
    return place && readIncludedReceipt(this.blocks, place)
  }

  async decision(number: number): Promise<Decision> {
    const certificate = await this.blocks.certificate(number)
    const committee = await this.#committee?.(number)
    const committers = committee?.filter(
      (_, index) => ((certificate?.bitmap[index >> 3] ?? 0) & (1 << (index & 7))) !== 0,
    )
    return {
      round: certificate?.round ?? null,
      committee: committee ?? null,
      committers: (certificate && committers) ?? null,
    }
  }

  async failedExecution({ number, index }: TransactionLocation): Promise<FailedExecution | undefined> {
    return [...(await this.blocks.failedExecutions(number))].find(({ transactionIndex }) => transactionIndex === index)
  }

  async *records(from: number, to: number): AsyncGenerator<BlockRecord> {
    for (let number = from; number <= to; number++) {
      const record = await this.#record(number)
      if (record === undefined) return
      yield record
    }
  }

  async logs({ address, topics, ...range }: LogQuery, limit: number): Promise<readonly LogEntry[]> {
    const criteria = packCriteria({ addresses: address ? [address] : [], topics })
    const limits = { results: limit, timeoutMs: QUERY_MS, nowMs: () => performance.now() }
    return queryLogs(this.store, this.blocks, { ...criteria, ...range }, limits).catch((error: unknown) => {
      if (isCoded(error) && ['TOO_MANY_RESULTS', 'RESULTS_TOO_LARGE'].includes(error.code))
        throw new CodedError<LogSearchError>({ code: 'TOO_MANY_LOGS', limit })
      throw error
    })
  }

  close(): Promise<void> {
    return this.store.close()
  }

  async #record(number: number): Promise<BlockRecord | undefined> {
    const block = await this.blocks.block(number)
    const receipts = block && (await this.blocks.receiptsWithoutBlooms(number))
    if (block === undefined || receipts === undefined) return undefined
    const [internal, failed, proofs] = await Promise.all([
      this.blocks.internalTransfers(number),
      this.blocks.failedExecutions(number),
      this.#proofs(block),
    ])
    const coinbases = endsCycle(number, this.params.rewards.cycleBlocks)
      ? this.#proofRows.coinbasesAt(block.extra.proofTip)
      : []
    // Proof headers below a snapshot are not fetched yet: without them the record would be false for good.
    if (coinbases === undefined) return undefined
    const shares = sharesOf(block, receipts, this.params, coinbases)
    return recordOfBlock(
      { block: blockOf(block), receipts },
      { shares, internal: [...internal], failed: [...failed], proofs },
    )
  }

  async #proofs({ proofHeaders }: ChainBlock): Promise<readonly ProofRecord[]> {
    const records = proofHeaders.map(async bytes => {
      const header = decodeProofHeader(bytes)
      const anchor = await this.blocks.header(header.anchorNumber)
      return proofOf(header, anchor?.header.timestamp ?? 0, this.params)
    })
    return Promise.all(records)
  }

  async #onState<T>(work: (state: AsyncStateReader) => T | Promise<T>): Promise<T> {
    const state = await openStateReader(this.store, readHead(this.store) ?? 0)
    try {
      return await work(state)
    } finally {
      state.release()
    }
  }
}

const QUERY_MS = 5_000

const blockOf = ({ header, hash, extra, size, transactions }: ChainBlock): Block => ({
  ...header,
  hash,
  proposer: extra.proposer,
  extraData: bytesToHex(header.extraData),
  baseFeePerGas: header.baseFeePerGas ?? 0n,
  size,
  transactions,
})

const proofOf = (header: ProofHeader, timestamp: number, params: ChainParams): ProofRecord => ({
  height: header.height,
  id: proofHeaderId(header),
  miner: header.coinbase,
  timestamp,
  difficulty: 2n ** 256n / (header.target + 1n),
  nonce: bytesToHex(header.nonce),
  algorithm: proofAlgorithmAt(params, header.height),
})

const sharesOf = (
  { header }: ChainBlock,
  receipts: readonly ReceiptWithoutBloom[],
  { feeShares, rewards }: ChainParams,
  coinbases: readonly Hex[],
): BlockShares => {
  const { number, miner } = header
  const feesWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const fees = assignFees(feesWei, feeShares, miner)
  const cycle = cycleOf(number, rewards.cycleBlocks)
  const last = lastOfCycle(cycle, rewards.cycleBlocks)
  const { union } = splitReward(mintedAt(last, rewards), rewards)
  const blocks = BigInt(rewards.cycleBlocks)
  const unionShare = number === 0 ? 0n : union / blocks + (number === last ? union % blocks : 0n)
  const proposers = Array<Hex>(rewards.cycleBlocks).fill(header.parentHash)
  return {
    cycle,
    feesWei,
    burntWei: fees.burnt,
    mintedWei: mintedAt(number, rewards),
    proposerWei: fees.proposer + unionShare,
    minerWei: fees.miner,
    minerCredits: rewardCredits(number, rewards, { proposers, coinbases, foundation: header.parentHash })
      .filter(({ role }) => role === 'miner')
      .map(({ address, amountWei }) => ({ address, amountWei })),
  }
}
