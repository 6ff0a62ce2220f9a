import { LIMITS } from '../config/limits.ts'
import type { BuildRequest, DecidedBlock, ExecutionPort, Head, ValidateContext, Verdict } from '../consensus/ports.ts'
import type { BlockEnv } from '../evm/env.ts'
import type { BlockExecution, Credit, Executor, TransactionSource } from '../evm/execution.ts'
import type { Block } from '../primitives/block.ts'
import { sealBlock } from '../primitives/block.ts'
import type { Certificate } from '../primitives/certificate.ts'
import type { Header } from '../primitives/header.ts'
import { receiptsRoot, transactionsRoot } from '../primitives/roots.ts'
import { checkBody } from '../rules/body.ts'
import { checkHeader } from '../rules/header.ts'
import type { Journal } from '../state/journal.ts'
import type { Sealed } from '../state/sealed.ts'
import type { WorldState } from '../state/world-state.ts'
import type { Store } from '../storage/store.ts'
import { assert } from '../util/assert.ts'
import { bytesEqual, type Hex } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import { isCoded } from '../util/errors.ts'
import type { Logger } from '../util/logger.ts'
import { Mutex } from '../util/mutex.ts'
import { extraOf, headerOf, type Roots } from './assembly.ts'
import { type BlockEnvSources, childEnv, committedEnv } from './block-env.ts'
import { type BlockRows, type BlockStore, putBlock } from './block-store.ts'
import { type Candidate, Candidates } from './candidates.ts'
import type { Economy } from './economy.ts'
import { type EvidenceDesk, jail } from './evidence.ts'
import type { ChainBlock, CommittedEvent } from './types.ts'
import { putUnsynced } from './unsynced.ts'

/** What the chain asks of the pool. */
export interface PoolSide {
  /** Executable transactions in block order at a base fee. */
  select(baseFeePerGas: bigint): TransactionSource
  hasExecutable(): boolean
  /** `touched`: every account the block changed. */
  onBlock(event: CommittedEvent, touched: Iterable<Hex>): void
  /** Candidates that turned out invalid while a block was built. */
  reject(hash: Hex): void
}

/** The committed head with its own certificate; null for genesis. */
export interface ChainHead {
  readonly block: ChainBlock
  readonly certificate: Certificate | null
}

export interface ChainOptions {
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly executor: Executor
  readonly pool: PoolSide
  readonly sources: BlockEnvSources
  readonly economy: Economy
  readonly evidence: EvidenceDesk
  /** The committed head this node starts from, with its certificate. */
  readonly head: ChainHead
  readonly vanity?: Uint8Array
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The life of a block, and the only writer of chain state. Building, judging and committing run one at a time: each works on
 * the head, and the head must not move beneath it.
 */
export class Chain implements ExecutionPort {
  readonly #options: ChainOptions
  readonly #turn = new Mutex()
  readonly #candidates = new Candidates()
  readonly #listeners = new Set<(event: CommittedEvent) => void>()
  #head: ChainBlock
  #certificate: Certificate | null
  /** Blocks up to here are on disk whatever happens to the machine. */
  #durable: number
  #flushing: Promise<void> | null = null

  constructor(options: ChainOptions) {
    this.#options = options
    this.#head = options.head.block
    this.#certificate = options.head.certificate
    // What is read when a store is opened has gone to a table.
    this.#durable = options.head.block.header.number
  }

  get headBlock(): ChainBlock {
    return this.#head
  }

  head(): Head {
    const { header, hash } = this.#head
    return { number: header.number, hash, timestamp: header.timestamp, certificate: this.#certificate }
  }

  wantsBlock(): boolean {
    return this.#options.pool.hasExecutable()
  }

  onCommitted(listener: (event: CommittedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Runs work that executes on the head while nothing else does (the pending block). */
  onHead<T>(work: (head: ChainBlock) => Promise<T>): Promise<T> {
    return this.#turn.run(() => work(this.#head))
  }

  /** Work of a development chain that changes what stands at the head or below it; it answers the head from then on. */
  replaceHead(work: (head: ChainHead) => Promise<ChainHead>): Promise<void> {
    return this.#turn.run(async () => {
      await this.flush()
      const { block, certificate } = await work({ block: this.#head, certificate: this.#certificate })
      this.#head = block
      this.#certificate = certificate
      this.#durable = Math.min(this.#durable, block.header.number)
      this.#candidates.clear()
      this.#options.sources.council.forget()
    })
  }

  build(request: BuildRequest): Promise<Block> {
    return this.#turn.run(async () => {
      const { executor, pool, sources, world, evidence, vanity, clock } = this.#options
      const parent = this.#head
      assert(request.parentHash === parent.hash, 'a block is built on the head')
      const env = childEnv(sources, parent, request)
      const journal = world.journal()
      const nowMs = () => clock.nowMs()
      const budget = {
        maxBytes: LIMITS.block.bodyBytes,
        nowMs,
        deadlineMs: nowMs() + request.budgetMs,
        transactionMs: request.transactionMs,
      }
      const credits = await this.#credits(env, request.proposer)
      const execution = await executor.build(journal, env, pool.select(env.baseFeePerGas), budget, credits)
      for (const { transaction, reason } of execution.dropped) {
        this.#options.logger.debug({ hash: transaction.hash, reason }, 'transaction left out of the block')
        pool.reject(transaction.hash)
      }
      const { items, offenders } = evidence.select(env.number)
      jail(journal, offenders, env.number)
      const extra = extraOf(request.proposer, request.parentCertificate, { vanity, evidence: items })
      const { roots, sealed } = await this.#seal(journal, execution)
      const header = headerOf(env, parent, extra, execution, roots)
      const block = sealBlock(header, { transactions: execution.transactions, proofHeaders: [], evidence: items })
      this.#candidates.add({ block: { ...block, extra }, execution, sealed })
      return block
    })
  }

  validate(block: Block, _context: ValidateContext): Promise<Verdict> {
    return this.#turn.run(async () => {
      if (this.#candidates.get(block.hash)) return { valid: true }
      const verdict = await this.#judge(block, this.#options.clock.nowMs())
      if (typeof verdict === 'string') return { valid: false, proven: true, reason: verdict }
      this.#candidates.add(verdict)
      return { valid: true }
    })
  }

  commit(block: Block, certificate: Certificate): Promise<void> {
    return this.#turn.run(async () => {
      const { header, hash } = this.#head
      if (block.header.number <= header.number) {
        assert(block.header.number !== header.number || block.hash === hash, 'a committed block is never replaced')
        return
      }
      // A quorum sealed it: what this node's own clock says does not count any more.
      const candidate = this.#candidates.get(block.hash) ?? (await this.#judge(block, Number.POSITIVE_INFINITY))
      assert(typeof candidate !== 'string', `a decided block is valid: ${String(candidate)}`)
      await this.#write(candidate, certificate)
    })
  }

  /** Not in turn: what is on the way to the disk is read by nobody. */
  async flush(): Promise<void> {
    const { number } = this.#head.header
    while (this.#durable < number) {
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = null
      })
      await this.#flushing
    }
  }

  async decided(number: number): Promise<DecidedBlock | undefined> {
    const { blocks } = this.#options
    const [block, certificate] = await Promise.all([blocks.block(number), blocks.certificate(number)])
    return block && certificate && { block, certificate }
  }

  /** Waits until nothing is being executed or written. */
  settled(): Promise<void> {
    return this.#turn.run(async () => {})
  }

  /** Executes a foreign block on the head; answers why it is invalid, or the candidate. */
  async #judge(block: Block, nowMs: number): Promise<Candidate | string> {
    const { executor, sources, world, evidence } = this.#options
    const parent = this.#head
    try {
      const extra = checkHeader(block.header, parent, sources.params, nowMs)
      checkBody(block, extra)
      if (block.proofHeaders.length > 0) return 'no proof header is known yet'
      const offenders = evidence.offendersOf(block.evidence, block.header.number)
      const env = this.#envOf(block.header, extra.proposer)
      const journal = world.journal()
      const credits = await this.#credits(env, extra.proposer)
      const execution = await executor.execute(journal, env, block.transactions, credits, {
        gasUsed: block.header.gasUsed,
      })
      jail(journal, offenders, env.number)
      const { roots, sealed } = await this.#seal(journal, execution, block.header.transactionsRoot)
      const expected = headerOf(env, parent, extra, execution, roots)
      const difference = firstDifference(block.header, expected)
      return difference
        ? `header field ${difference} does not follow from the execution`
        : { block: { ...block, extra }, execution, sealed }
    } catch (error) {
      if (isCoded(error) && isBlockFault(error.code)) return error.message
      throw error
    }
  }

  /** On a development chain a header's own choices stand: `checkHeader` leaves them to the proposer. */
  #envOf(header: Header, proposer: Hex): BlockEnv {
    const { sources } = this.#options
    if (sources.params.devHelpers) return committedEnv(sources, header, proposer)
    return childEnv(sources, this.#head, { timestamp: header.timestamp, proposer })
  }

  /** The state root is computed in its worker while this thread hashes receipts, and transactions unless their root is known. */
  async #seal(
    journal: Journal,
    execution: BlockExecution,
    transactions?: Hex,
  ): Promise<{ roots: Roots; sealed: Sealed }> {
    const { world } = this.#options
    const sealing = world.seal(journal.changes(), world.root)
    transactions ??= transactionsRoot(execution.transactions)
    const receipts = receiptsRoot(execution.receipts)
    const sealed = await sealing
    return { roots: { state: sealed.root, transactions, receipts }, sealed }
  }

  #credits(env: BlockEnv, proposer: Hex): Promise<readonly Credit[]> {
    return this.#options.economy.credits(env.number, { miner: env.miner, proposer })
  }

  async #flush(): Promise<void> {
    const { number } = this.#head.header
    await this.#options.store.flush()
    this.#durable = number
  }

  /** One batch per block: a crash leaves either the block before or this one. */
  async #write({ block, execution, sealed }: Candidate, certificate: Certificate): Promise<void> {
    const { store, world, economy, sources } = this.#options
    const rows = { block, receipts: execution.receipts, certificate }
    const { number } = block.header
    const batch = store.batch()
    try {
      putBlock(batch, rows)
      putUnsynced(batch, this.#durable)
      await economy.write(batch, number, economy.burntBy(number, execution.fees.burnt, sealed.accounts.values()))
      await sources.council.write(batch, block, sealed)
      await world.write(batch, number, sealed)
    } catch (error) {
      await batch.discard()
      throw error
    }
    await batch.write({ sync: false })
    // State and head move in one turn; only the trie, which no reader of the head needs, is waited for.
    const trie = world.committed(number, sealed)
    this.#moveHead(rows, certificate, sealed)
    await trie
  }

  #moveHead(
    { block, receipts }: Pick<BlockRows, 'block' | 'receipts'>,
    certificate: Certificate,
    sealed: Sealed,
  ): void {
    const { blocks, pool, evidence, logger } = this.#options
    blocks.remember({ block, receipts })
    this.#head = block
    this.#certificate = certificate
    this.#candidates.clear()
    const event: CommittedEvent = { block, receipts }
    const { number, gasUsed } = block.header
    pool.onBlock(event, sealed.accounts.keys())
    evidence.onBlock(block.header)
    if (block.evidence.length > 0) logger.warn({ number, evidence: block.evidence.length }, 'validators jailed')
    if (block.transactions.length > 0)
      logger.info({ number, transactions: block.transactions.length, gasUsed, hash: block.hash }, 'block')
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        logger.error({ err: error, number }, 'listener of committed blocks failed')
      }
    }
  }
}

/** Name of the first member in which a proposed header differs from what its execution gives. */
const firstDifference = (got: Header, want: Header): string | undefined => {
  for (const key of Object.keys(want) as (keyof Header)[]) {
    const [a, b] = [got[key], want[key]]
    const same = a instanceof Uint8Array && b instanceof Uint8Array ? bytesEqual(a, b) : a === b
    if (!same) return key
  }
  return undefined
}

/** Errors that speak of the block; any other one is this node's own and must not condemn it. */
const isBlockFault = (code: string): boolean =>
  code.startsWith('HEADER_') || code.startsWith('BODY_') || code === 'INVALID_TRANSACTION'
