import { assert } from '@tandem/base/assert.ts'
import { Mutex } from '@tandem/base/async/mutex.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { Lru } from '@tandem/base/lru.ts'
import { forkHeight } from '../config/forks.ts'
import { CHAIN_LIMITS } from '../config/limits/chain.ts'
import type { ChainParams } from '../config/networks.ts'
import type {
  BuildRequest,
  DecidedBlock,
  ExecutionPort,
  Head,
  ProposalVerdict,
  ValidateContext,
} from '../consensus/ports.ts'
import type { Executor } from '../evm/executor-types.ts'
import type { MainHead, ProofPool } from '../powchain/proof-pool.ts'
import type { Block } from '../primitives/block.ts'
import type { Certificate } from '../primitives/consensus/certificate.ts'
import { readExtraData } from '../primitives/consensus/extra-data.ts'
import { endsCycle } from '../rules/council/cycle.ts'
import type { StateUpdate } from '../state/update/state-update.ts'
import type { WorldState } from '../state/world/world-state.ts'
import type { Store } from '../storage/store.ts'
import type { BlockEnvSources } from './block/block-env.ts'
import { type BlockFault, isEndOfWork } from './block/block-fault.ts'
import {
  type BlockChoices,
  BlockWork,
  type CandidateSource,
  EMPTY_POOL,
  type ExecutedBlock,
} from './block/block-work.ts'
import { type BlockToCommit, writeCommit } from './block/commit-batch.ts'
import type { Economy } from './block/economy.ts'
import { RunningWork } from './block/running-work.ts'
import type { EvidencePool } from './council/evidence-pool.ts'
import type { BlockProofs } from './proof/block-proofs.ts'
import type { BlockStore } from './store/block-store.ts'
import type { BlockRows } from './store/put-block.ts'
import type { ChainBlock, CommittedEvent } from './store/types.ts'

/** The committee of this network decided a proof header that this node's rules refuse by its version alone. */
type ForkMismatchError = {
  readonly code: 'FORK_MISMATCH'
  readonly fork: 'nativeHash'
  /** Fork height of this node. */
  readonly height: number | null
  readonly reason: string
}

/** Error of a node whose rules lack a fork of the committee, or have it at another height. */
const forkMismatch = ({ forks }: Pick<ChainParams, 'forks'>, cause: CodedError): CodedError<ForkMismatchError> => {
  const height = forkHeight(forks, 'nativeHash')
  return new CodedError<ForkMismatchError>(
    { code: 'FORK_MISMATCH', fork: 'nativeHash', height, reason: cause.message },
    { cause },
  )
}

/** The committee decided a block that this node's rules refuse. */
type RulesMismatchError = { readonly code: 'RULES_MISMATCH'; readonly number: number; readonly reason: string }

const rulesMismatch = (number: number, cause: CodedError): CodedError<RulesMismatchError> =>
  new CodedError<RulesMismatchError>({ code: 'RULES_MISMATCH', number, reason: cause.message }, { cause })

/** Transaction pool, as the chain uses it. */
export interface ChainPoolPort extends CandidateSource {
  hasExecutable(): boolean
  /** True without transactions, executable or not. */
  isEmpty(): boolean
  /** `touched`: every account the block changed. */
  onBlock(event: CommittedEvent, touched: Iterable<Hex>): void
}

/** Pool of pending proof headers, as the chain uses it. */
type ChainProofPool = Pick<ProofPool, 'omittedBy' | 'onBlock' | 'reset'>

/** Committed head with its own certificate; null for genesis. */
export interface ChainHead {
  readonly block: ChainBlock
  readonly certificate: Certificate | null
}

interface ChainOptions {
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  readonly executor: Executor
  readonly pool: ChainPoolPort
  readonly sources: BlockEnvSources
  readonly economy: Economy
  readonly evidence: EvidencePool
  readonly proofs: BlockProofs
  readonly proofPool: ChainProofPool
  /** Committed head at start, with its certificate. */
  readonly head: ChainHead
  readonly vanity?: Uint8Array
  readonly clock: Clock
  readonly logger: Logger
}

/** Life of a block, and the only writer of chain state. Builds and validates concurrently, each over the head; only writes are serialized. */
export class Chain implements ExecutionPort {
  readonly #options: ChainOptions
  readonly #writing = new Mutex()
  readonly #work: BlockWork
  readonly #running = new RunningWork()
  /** Executed blocks of the open height, by hash. */
  readonly #candidates = new Lru<Hex, ExecutedBlock>(CHAIN_LIMITS.candidates)
  readonly #listeners = new Set<(event: CommittedEvent) => void>()
  #head: ChainBlock
  #certificate: Certificate | null
  /** Number of the last block known to be synced to disk. */
  #durable: number
  #flushing: Promise<void> | null = null

  constructor(options: ChainOptions) {
    this.#options = options
    this.#work = new BlockWork(options)
    this.#head = options.head.block
    this.#certificate = options.head.certificate
    // Data read when a store is opened is in a table already.
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

  /** Runs work while nothing is committed or reverted. */
  exclusively(work: () => Promise<void>): Promise<void> {
    return this.#writing.run(work)
  }

  /** Runs work of a development chain that changes the head or blocks below it; the result is the new head. */
  replaceHead(work: (head: ChainHead) => Promise<ChainHead>): Promise<void> {
    return this.#writing.run(async () => {
      this.#running.abortAll()
      await this.#running.settled()
      await this.flush()
      const before = this.#head
      const { block, certificate } = await work({ block: before, certificate: this.#certificate })
      this.#head = block
      this.#certificate = certificate
      this.#durable = Math.min(this.#durable, block.header.number)
      this.#leaveHead()
      this.#options.sources.council.forget(block.header.number)
      // An edit of the state leaves the proof chain as it is.
      if (block !== before) this.#options.proofPool.reset(this.#mainHead())
    })
  }

  async build(request: BuildRequest, cancelled?: AbortSignal): Promise<Block> {
    const parent = this.#head
    const executedBlock = await this.#running.run(signal => this.#work.build(parent, request, signal), cancelled)
    if (parent === this.#head) this.#candidates.set(executedBlock.block.hash, executedBlock)
    const { extra: _, ...block } = executedBlock.block
    return block
  }

  /** Builds a block of a client's choices on the head, and keeps nothing of it. */
  trial(request: BuildRequest & BlockChoices, cancelled: AbortSignal): Promise<ExecutedBlock> {
    const parent = this.#head
    return this.#running.run(signal => this.#work.build(parent, request, signal), cancelled)
  }

  /** Builds and validates an empty block and keeps neither: the chain's first would otherwise pay for loading all of that code. */
  warmUp(proposer: Hex): Promise<void> {
    return this.#running.run(signal => this.#work.warmUp(this.#head, this.#certificate, proposer, signal))
  }

  async validate(block: Block, context: ValidateContext, cancelled?: AbortSignal): Promise<ProposalVerdict> {
    const nowMs = this.#options.clock.nowMs()
    if (this.#candidates.has(block.hash)) return { valid: true }
    const omitted = this.#omittedProof(block, context, nowMs)
    if (omitted !== undefined) return { valid: false, proven: false, reason: `leaves out the proof header ${omitted}` }
    try {
      const outcome = await this.#running.validate(block.hash, this.#validate(block, nowMs), cancelled)
      if (!isFault(outcome)) return { valid: true }
      return { valid: false, proven: outcome.proven, reason: outcome.error.message }
    } catch (error) {
      if (isEndOfWork(error)) return { valid: false, proven: false, reason: 'cancelled' }
      throw error
    }
  }

  /** Returns the id of a proof header that this node would have expected in a fresh proposal (docs/design/proof-chain.md#inclusion). */
  #omittedProof(block: Block, context: ValidateContext, nowMs: number): Hex | undefined {
    const omitted = this.#options.proofPool.omittedBy(block, context, nowMs)
    const { header } = block
    if (omitted !== undefined)
      this.#options.logger.warn(
        { number: header.number, round: context.round, proof: omitted.id, proposer: readExtraData(header)?.proposer },
        'proposal leaves out a proof header',
      )
    return omitted?.id
  }

  #mainHead(): MainHead {
    const { header, hash, extra } = this.#head
    return { number: header.number, hash, proofState: this.#options.sources.proofs.stateAt(extra.proofTip) }
  }

  commit(block: Block, certificate: Certificate): Promise<void> {
    return this.#writing.run(async () => {
      const { header, hash } = this.#head
      if (block.header.number <= header.number) {
        assert(block.header.number !== header.number || block.hash === hash, 'a committed block is never replaced')
        return
      }
      const executedBlock = this.#candidates.peek(block.hash) ?? (await this.#finish(block))
      await this.#write([{ ...executedBlock, certificate }])
    })
  }

  /**
   * Builds blocks on the head, each on the one before, and commits them in one batch: on a chain whose blocks this node decides alone. `next`
   * returns the request for the child of a block, and `seal` the certificate; undefined ends the run, as does a block on which no other can be
   * built before it is written.
   */
  extend(next: (parent: Head) => BuildRequest | undefined, seal: (block: Block) => Certificate): Promise<void> {
    return this.#writing.run(async () => {
      const run = await this.#running.run(signal => this.#buildRun(next, seal, signal))
      if (run.length > 0) await this.#write(run)
    })
  }

  async #buildRun(
    next: (parent: Head) => BuildRequest | undefined,
    seal: (block: Block) => Certificate,
    signal: AbortSignal,
  ): Promise<readonly BlockToCommit[]> {
    const { world, pool } = this.#options
    const ahead = world.ahead()
    const run: BlockToCommit[] = []
    let parent = this.#head
    for (let request = next(this.head()); request !== undefined; ) {
      const source = run.length === 0 ? pool : EMPTY_POOL
      const executedBlock = await this.#work.build(parent, request, signal, source, ahead)
      const certificate = seal(executedBlock.block)
      run.push({ ...executedBlock, certificate })
      if (!(this.#isQuiet(executedBlock) && ahead.add(executedBlock.update))) break
      parent = executedBlock.block
      const { number, timestamp } = parent.header
      request = next({ number, hash: parent.hash, timestamp, certificate })
    }
    return run
  }

  /** True when the next block is empty, and depends on nothing of this one but its header and the state. */
  #isQuiet({ block, proofs }: ExecutedBlock): boolean {
    const { pool, sources } = this.#options
    const { number } = block.header
    const { cycleBlocks } = sources.params.rewards
    const isInside = !endsCycle(number, cycleBlocks) && !endsCycle(number + 1, cycleBlocks)
    const isSetForOne = sources.choices?.().baseFeePerGas !== undefined
    if (isSetForOne || !pool.isEmpty()) return false
    return isInside && block.transactions.length + block.evidence.length + proofs.length === 0
  }

  /** Executes a decided block, or joins its execution under way. Other work must not delay it. */
  async #finish(block: Block): Promise<ExecutedBlock> {
    const underWay = this.#running.validation(block.hash)
    if (underWay !== undefined) underWay.isKept = true
    this.#running.abortAll(underWay)
    const known = await underWay?.outcome
    if (known !== undefined && !isFault(known)) return known
    // A quorum sealed it, so this node's own clock no longer matters.
    const candidate = await this.#running.run(this.#validate(block, Number.POSITIVE_INFINITY))
    if (!isFault(candidate)) return candidate
    const { proven, error } = candidate
    if (error.code === 'PROOF_VERSION') throw forkMismatch(this.#options.sources.params, error)
    if (proven) throw rulesMismatch(block.header.number, error)
    this.#options.logger.error(
      { err: error, number: block.header.number, hash: block.hash },
      'this node cannot execute a decided block: start it again, with --execution ethereumjs if it fails at the same block and is no validator',
    )
    throw error
  }

  #validate(block: Block, nowMs: number): (signal: AbortSignal) => Promise<ExecutedBlock | BlockFault> {
    const parent = this.#head
    return async signal => {
      const outcome = await this.#work.validate(parent, block, nowMs, signal)
      if (!isFault(outcome) && parent === this.#head) this.#candidates.set(block.hash, outcome)
      return outcome
    }
  }

  /** Not serialized with writes: no reader depends on the data on its way to disk. */
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
  async settled(): Promise<void> {
    await this.#writing.run(() => this.#running.settled())
  }

  async #flush(): Promise<void> {
    const { number } = this.#head.header
    await this.#options.store.flush()
    this.#durable = number
  }

  async #write(run: readonly BlockToCommit[]): Promise<void> {
    await writeCommit(this.#options, run, () => this.#durable)
    // State and head move in the same event-loop turn; only the trie, which no reader of the head needs, is awaited.
    const trie = this.#options.world.committed(this.#head.header.number + 1, ...run.map(({ update }) => update))
    for (const { block, execution, certificate, update } of run)
      this.#moveHead({ block, receipts: execution.receipts }, certificate, update)
    await trie
    if (this.#head.header.number >= this.#durable + CHAIN_LIMITS.unsyncedBlocks) await this.flush()
  }

  /** Aborts all work begun on the previous head. */
  #leaveHead(): void {
    this.#running.abortAll()
    this.#candidates.clear()
  }

  #moveHead(
    { block, receipts }: Pick<BlockRows, 'block' | 'receipts'>,
    certificate: Certificate,
    update: StateUpdate,
  ): void {
    const { blocks, pool, evidence, proofPool, clock, logger } = this.#options
    blocks.remember({ block, receipts })
    this.#head = block
    this.#certificate = certificate
    this.#leaveHead()
    const event: CommittedEvent = { block, receipts }
    const { number, gasUsed } = block.header
    pool.onBlock(event, update.accounts.keys())
    evidence.onBlock(block.header)
    proofPool.onBlock(this.#mainHead(), clock.nowMs())
    if (block.evidence.length > 0) logger.warn({ number, evidence: block.evidence.length }, 'validators jailed')
    if (block.transactions.length > 0)
      logger.info({ number, transactions: block.transactions.length, gasUsed, hash: block.hash }, 'block')
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        logger.error({ err: error, number }, 'block listener failed')
      }
    }
  }
}

const isFault = (outcome: ExecutedBlock | BlockFault): outcome is BlockFault => 'proven' in outcome
