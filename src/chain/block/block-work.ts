import { assert } from '@tandem/base/assert.ts'
import { runSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import type { BuildRequest } from '../../consensus/ports.ts'
import type { BlockEnv } from '../../evm/block-env.ts'
import type { BlockExecution, BuildBudget, Credit, Executor, TransactionSource } from '../../evm/executor-types.ts'
import { checkAborted } from '../../evm/slice-clock.ts'
import { type Block, blockFromParts } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { ExtraData } from '../../primitives/consensus/extra-data.ts'
import type { Header } from '../../primitives/header.ts'
import { receiptsRootParts, transactionsRootParts } from '../../primitives/roots.ts'
import type { Transaction } from '../../primitives/transaction/transaction.ts'
import { checkBody } from '../../rules/body.ts'
import { checkHeader } from '../../rules/header.ts'
import type { ProofState } from '../../rules/proof/proof-header.ts'
import type { IncludedProof } from '../../rules/proof/proof-inclusion.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { StateUpdate } from '../../state/update/state-update.ts'
import type { BlockBase, WorldState } from '../../state/world/world-state.ts'
import { type EvidencePool, jailOffenders } from '../council/evidence-pool.ts'
import type { BlockProofs } from '../proof/block-proofs.ts'
import type { BlockRoots } from '../store/rules-port.ts'
import type { ChainBlock } from '../store/types.ts'
import { type BlockEnvSources, childEnv, committedEnv } from './block-env.ts'
import { type BlockFault, blockFaultFromError, isEndOfWork, type ResultError } from './block-fault.ts'
import type { Economy } from './economy.ts'
import { assembleExtraData, assembleHeader } from './header-assembly.ts'

/** Transaction pool, as block building uses it. */
export interface CandidateSource {
  /** Returns executable transactions in block order at a base fee. */
  select(baseFeePerGas: bigint): TransactionSource
  /** Reports a candidate that proved invalid while a block was built. */
  reject(hash: Hex): void
}

interface BlockWorkOptions {
  readonly world: WorldState
  readonly executor: Executor
  readonly pool: CandidateSource
  readonly sources: BlockEnvSources
  readonly economy: Economy
  readonly evidence: EvidencePool
  readonly proofs: BlockProofs
  readonly vanity?: Uint8Array
  readonly clock: Clock
  readonly logger: Logger
}

/** Parts of a block that a client of a development chain decides; such a block is never proposed (testing_buildBlockV1). */
export interface BlockChoices {
  readonly env?: Pick<BlockEnv, 'miner' | 'prevRandao'>
  /** Exactly these, in this order; from the pool if omitted. */
  readonly transactions?: readonly Transaction[]
  readonly vanity?: Uint8Array
}

/** Block executed on the head and not yet decided; commit must not execute it again (docs/design/consensus.md#validation). */
export interface ExecutedBlock {
  readonly block: ChainBlock
  readonly execution: BlockExecution
  readonly update: StateUpdate
  readonly proofs: readonly IncludedProof[]
}

export const EMPTY_POOL: Pick<CandidateSource, 'select'> = {
  select: () => ({ next: () => undefined, skipSender() {} }),
}

/** Builds and validates blocks on the head, writing nothing; rejects once the head has moved, or the signal has aborted. */
export class BlockWork {
  readonly #options: BlockWorkOptions

  constructor(options: BlockWorkOptions) {
    this.#options = options
  }

  /** Builds from the pool on the head, or from another source of transactions, or on a block that is not written yet. */
  async build(
    parent: ChainBlock,
    request: BuildRequest & BlockChoices,
    signal: AbortSignal,
    pool: Pick<CandidateSource, 'select'> = this.#options.pool,
    base: BlockBase = this.#options.world,
  ): Promise<ExecutedBlock> {
    const { executor, sources, evidence, proofs, vanity } = this.#options
    assert(request.parentHash === parent.hash, 'a block is built on its parent')
    const env = { ...childEnv(sources, parent, request), ...request.env }
    const journal = base.journal()
    const budget = this.#budget(request, env, signal)
    const { included, state } = await proofs.select(parent)
    const credits = await this.#credits(env, request.proposer, state)
    const execution = request.transactions
      ? await executor.execute(journal, env, request.transactions, credits, { signal })
      : await executor.build(journal, env, pool.select(env.baseFeePerGas), budget, credits)
    this.#reject(execution)
    const { items, offenders } = evidence.select(env.number)
    jailOffenders(journal, offenders, env.number)
    sources.council.commitRecords(journal, env.number, state)
    const { proposer, parentCertificate } = request
    const proofHeaders = included.map(({ bytes }) => bytes)
    const fields = { vanity: request.vanity ?? vanity, evidence: items, proofTip: state.tipId, proofHeaders }
    const extra = assembleExtraData(proposer, parentCertificate, fields)
    const { blockRoots, update } = await this.#computeRoots(base, journal, execution, signal)
    const header = assembleHeader(env, parent, extra, execution, blockRoots)
    const block = blockFromParts(header, { transactions: execution.transactions, proofHeaders, evidence: items })
    return { block: { ...block, extra }, execution, update, proofs: included }
  }

  /** Executes a foreign block; returns its fault or the candidate. `nowMs`: upper bound of its timestamp. */
  async validate(
    parent: ChainBlock,
    block: Block,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<ExecutedBlock | BlockFault> {
    const { sources, evidence, proofs } = this.#options
    try {
      const extra = checkHeader(block.header, parent, sources.params, nowMs)
      checkBody(block, extra)
      const included = await proofs.check(parent, block.proofHeaders, extra.proofTip)
      const offenders = evidence.offendersOf(block.evidence, block.header.number)
      return await this.#execute(parent, { ...block, extra }, { offenders, included }, signal)
    } catch (error) {
      const fault = blockFaultFromError(error)
      if (fault === undefined) throw error
      return fault
    }
  }

  /** Builds an empty block on a head and validates it, and keeps neither. */
  async warmUp(
    parent: ChainBlock,
    parentCertificate: Certificate | null,
    proposer: Hex,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.#options
    const number = parent.header.number + 1
    const timestamp = Math.max(parent.header.timestamp + 1, Math.floor(clock.nowMs() / 1_000))
    const limits = { round: 0, budgetMs: 0, transactionMs: 0, gasShare: 1 }
    const request = { number, parentHash: parent.hash, timestamp, proposer, parentCertificate, ...limits }
    try {
      const { block } = await this.build(parent, request, signal, EMPTY_POOL)
      await this.validate(parent, block, Number.POSITIVE_INFINITY, signal)
    } catch (error) {
      // With one of these, a block was decided meanwhile: the code is warm.
      if (!isEndOfWork(error)) logger.warn({ err: error, number }, 'block for warming up not built')
    }
  }

  async #execute(
    parent: ChainBlock,
    block: ChainBlock,
    { offenders, included }: { readonly offenders: readonly Hex[]; readonly included: readonly IncludedProof[] },
    signal: AbortSignal,
  ): Promise<ExecutedBlock> {
    const { executor, sources, world, proofs } = this.#options
    const { header, extra, transactions } = block
    const env = this.#envOf(parent, header, extra)
    const journal = world.journal()
    const state = proofs.stateAfter(parent, included)
    const credits = await this.#credits(env, extra.proposer, state)
    const bounds = { gasUsed: header.gasUsed, signal }
    const execution = await executor.execute(journal, env, transactions, credits, bounds)
    jailOffenders(journal, offenders, env.number)
    sources.council.commitRecords(journal, env.number, state)
    const { blockRoots, update } = await this.#computeRoots(world, journal, execution, signal, header.transactionsRoot)
    const field = firstDifference(header, assembleHeader(env, parent, extra, execution, blockRoots))
    if (field !== undefined) throw new CodedError<ResultError>({ code: 'HEADER_RESULT', field })
    return { block, execution, update, proofs: included }
  }

  #budget({ budgetMs, transactionMs, gasShare }: BuildRequest, env: BlockEnv, signal: AbortSignal): BuildBudget {
    const { clock } = this.#options
    const nowMs = () => clock.nowMs()
    const transferMs = Math.max(BUILD_LIMITS.leastBuildMs, budgetMs / BUILD_LIMITS.transferTimeShare)
    const deadlineMs = nowMs() + budgetMs
    const maxGas = (env.params.maxBlockExecutionGas * BigInt(Math.ceil(gasShare * 1_000))) / 1_000n
    const times = { nowMs, cpuMs: clock.cpuMs, deadlineMs, transactionMs, transferMs }
    return { maxBytes: BLOCK_BOUNDS.bodyBytes, maxGas, ...times, signal }
  }

  #reject({ dropped }: BlockExecution): void {
    const { pool, logger } = this.#options
    for (const { transaction, reason } of dropped) {
      logger.debug({ hash: transaction.hash, reason }, 'transaction left out of the block')
      pool.reject(transaction.hash)
    }
  }

  /** On a development chain the header's own values apply: `checkHeader` leaves them to the proposer. */
  #envOf(parent: ChainBlock, header: Header, { proposer }: ExtraData): BlockEnv {
    const { sources } = this.#options
    if (sources.params.devHelpers) return committedEnv(sources, header, proposer)
    return childEnv(sources, parent, { timestamp: header.timestamp, proposer })
  }

  /** Computes the roots: that of the state in its worker, while this thread hashes receipts and unhashed transactions. */
  async #computeRoots(
    base: BlockBase,
    journal: Journal,
    execution: BlockExecution,
    signal: AbortSignal,
    transactions?: Hex,
  ): Promise<{ blockRoots: BlockRoots; update: StateUpdate }> {
    checkAborted(signal)
    const hash = async () => ({
      transactions: transactions ?? (await runSlicedWork(transactionsRootParts(execution.transactions), sliceOver)),
      receipts: await runSlicedWork(receiptsRootParts(execution.receipts), sliceOver),
    })
    const [update, hashed] = await Promise.all([base.computeUpdate(journal.changes(), base.root), hash()])
    checkAborted(signal)
    return { blockRoots: { state: update.root, ...hashed }, update }
  }

  #credits({ number }: BlockEnv, proposer: Hex, { coinbases }: ProofState): Promise<readonly Credit[]> {
    return this.#options.economy.credits(number, { proposer, coinbases })
  }
}

/** Returns the name of the first member in which a proposed header differs from its execution; undefined when there is none. */
const firstDifference = (got: Header, want: Header): string | undefined => {
  for (const key of Object.keys(want) as (keyof Header)[]) {
    const [a, b] = [got[key], want[key]]
    const same = a instanceof Uint8Array && b instanceof Uint8Array ? bytesEqual(a, b) : a === b
    if (!same) return key
  }
  return undefined
}
