import { assert } from '@tandem/base/assert.ts'
import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Random } from '@tandem/base/random.ts'
import type { BlockProofs, ProofParent } from '../../../src/chain/proof/block-proofs.ts'
import type { ChainParams } from '../../../src/config/networks.ts'
import type { BuildRequest, DecidedBlock, ExecutionPort, Head, ProposalVerdict } from '../../../src/consensus/ports.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { MainHead } from '../../../src/powchain/proof-pool.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import { decodeExtraData, readExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import type { Header } from '../../../src/primitives/header.ts'
import { minTimestampStepSeconds } from '../../../src/rules/header.ts'
import type { ProofState } from '../../../src/rules/proof/proof-header.ts'
import type { IncludedProof } from '../../../src/rules/proof/proof-inclusion.ts'
import { type EmptyBlockFields, emptyBlock } from '../block.ts'
import { OMITS } from '../check/omission.ts'
import { START_MS } from './clock.ts'
import { syncMs } from './disk.ts'
import { Executions, type OnSlice } from './executions.ts'
import { delayOn, type Host, never } from './host.ts'
import { LedgerProofs, type ProcessProofs } from './ledger-proofs.ts'

export const GENESIS_HASH: Hex = `0x${'11'.repeat(32)}`
export const GENESIS_HEAD: Head = { number: 0, hash: GENESIS_HASH, timestamp: START_MS / 1000, certificate: null }

/** Result of executing a block: derived from the previous state and the block's gas used. */
const stateAfter = (before: Hex, { gasUsed }: Pick<Header, 'gasUsed'>): Hex => {
  const state = hexToBytes(before).slice()
  new DataView(state.buffer).setBigUint64(0, gasUsed)
  return keccak256Hex(state)
}

/** Execution time of a block on any node, milliseconds: its gas, above the bits that distinguish blocks. */
const workOf = ({ gasUsed }: Pick<Header, 'gasUsed'>): number => Number(gasUsed >> WORK_SHIFT)
const WORK_SHIFT = 32n
/** Bound by gas, the same on every node. */
export const MAX_WORK_MS = 20_000

/** Returns the fault that a header shows before execution; null when it shows none. */
const headerFault = ({ header }: Block): string | null =>
  workOf(header) > MAX_WORK_MS ? 'it names more gas than a block may use' : null

/** Rules of every block, independent of the node; null when it follows them. */
export const blockFault = ({ header }: Block, parent: Head, stateBefore: Hex, blockTimeMs: number): string | null => {
  if (header.number !== parent.number + 1 || header.parentHash !== parent.hash) return 'it does not follow its parent'
  if (header.timestamp < parent.timestamp + minTimestampStepSeconds(blockTimeMs)) return 'it is too close to its parent'
  if (workOf(header) > MAX_WORK_MS) return 'it names more gas than a block may use'
  return header.stateRoot === stateAfter(stateBefore, header) ? null : 'its state root is wrong'
}

interface MakeOptions {
  readonly salt: number
  readonly before: Hex
  readonly isValid?: boolean
  readonly workMs?: number
  /** Payee that the proof chain names, its tip after the block, and the headers that lead there. */
  readonly miner: Hex
  readonly proofTip: Hex
  readonly proofHeaders?: readonly Uint8Array[]
}

/**
 * Creates a block on a parent; `salt` distinguishes those of one position. An invalid one has a wrong state root; `workMs` is its
 * execution time.
 */
export const makeBlock = (
  place: EmptyBlockFields,
  proposer: Hex,
  parentCertificate: Certificate | null,
  { salt, before, isValid = true, workMs = 0, miner, proofTip, proofHeaders = [] }: MakeOptions,
): Block => {
  const gasUsed = BigInt(salt) + (BigInt(Math.round(workMs)) << WORK_SHIFT)
  const stateRoot = isValid ? stateAfter(before, { gasUsed }) : ZERO_HASH
  const extra = { proposer, parentCertificate, proofTip, proofHeaders }
  return emptyBlock({ ...place, miner, gasUsed, stateRoot }, extra)
}

interface LedgerOptions {
  /** Start of the salts, so that blocks of different nodes differ. */
  readonly firstSalt: number
  readonly blockTimeMs: number
  /** Mean duration of building and validating; committing takes a third. */
  readonly executionMs: number
  /** A client that always has another transaction which takes so long. */
  readonly hostileMs: number
  readonly random: Random
  readonly proofParams: ChainParams
  /** Length of a cycle. */
  readonly cycleBlocks: number
  readonly onCommitted: (committed: LedgerBlock) => void
}

/** Block that a node made its head. */
export interface LedgerBlock extends DecidedBlock {
  readonly parent: Head
  readonly stateBefore: Hex
  /** Seed of its cycle on this node. */
  readonly seed: Hex
}

/** Blocks that a copy lacks, besides two. */
const OLDEST_COPY = 4

const CANCELLED: ProposalVerdict = { valid: false, proven: false, reason: 'cancelled' }

/** Chain of one node, which outlives the process. A power failure may lose unflushed blocks. */
export class Ledger {
  readonly blocks: DecidedBlock[] = []
  /** Highest number that the engine committed. */
  committing = 0
  readonly proofs: LedgerProofs
  readonly #options: LedgerOptions
  #salt: number
  /** Number of the last block on its disk. */
  #durable = 0

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#salt = options.firstSalt
    const { proofParams: params, cycleBlocks } = options
    const hashAt = (number: number) => this.hashAt(number)
    this.proofs = new LedgerProofs({ params, genesisHash: GENESIS_HASH, cycleBlocks, hashAt })
  }

  get number(): number {
    return this.blocks.length
  }

  head(): Head {
    const last = this.blocks.at(-1)
    if (last === undefined) return GENESIS_HEAD
    const { block, certificate } = last
    return { number: block.header.number, hash: block.hash, timestamp: block.header.timestamp, certificate }
  }

  /** undefined: no such block yet. */
  hashAt(number: number): Hex | undefined {
    return number === 0 ? GENESIS_HASH : this.blocks[number - 1]?.block.hash
  }

  get state(): Hex {
    return this.blocks.at(-1)?.block.header.stateRoot ?? ZERO_HASH
  }

  /** Head as the proof chain uses it. */
  mainHead(): MainHead {
    return this.proofs.headOf(this.blocks.at(-1))
  }

  /** State of the proof chain after the head. */
  get proofState(): ProofState {
    return this.proofs.stateAfter(this.blocks.at(-1))
  }

  /** Simulates a power failure: unflushed blocks remain or not. */
  losePower(): void {
    const lost = this.#options.random.below(this.number - this.#durable + 1)
    this.blocks.length -= lost
    this.#durable = this.number
    this.committing = this.number
  }

  /** Simulates an empty database. */
  wipe(): void {
    this.blocks.length = 0
    this.#durable = 0
    this.committing = 0
  }

  /** Simulates blocks restored from a copy: the newest ones are missing, the first, if there is one, is not. */
  restoreOld(): void {
    const kept = Math.max(1, this.number - 2 - this.#options.random.below(OLDEST_COPY))
    this.blocks.length = Math.min(this.number, kept)
    this.#durable = this.number
    this.committing = this.number
  }

  /**
   * Execution port of one process: every operation takes time, and power may fail before or after the database's batch. `onSlice` is
   * called with the validation that has the processor.
   */
  port(host: Host, onSlice: OnSlice, process: ProcessProofs): ExecutionPort {
    const { executionMs, random, blockTimeMs } = this.#options
    const executions = new Executions(host, onSlice)
    const proofs = this.proofs.blocks(process.pool)
    const draw = (meanMs: number) => meanMs * -Math.log(1 - random.next())
    return {
      head: () => this.head(),
      build: (request, cancelled) => this.#build(request, executions, proofs, { workMs: draw(executionMs), cancelled }),
      validate: async (block, place, cancelled): Promise<ProposalVerdict> => {
        const workMs = draw(executionMs) + workOf(block.header)
        const fault = headerFault(block)
        if (fault !== null) return { valid: false, proven: true, reason: fault }
        if (executions.has(block.hash)) return { valid: true }
        const omitted = process.pool.omittedBy(block, place, process.nowMs())
        if (omitted !== undefined) return { valid: false, proven: false, reason: `${OMITS} ${omitted.id}` }
        if (!(await executions.execute(block.hash, workMs, { cancelled, place }))) return CANCELLED
        const proofFault = await this.#proofFault(block, proofs)
        const reason = blockFault(block, this.head(), this.state, blockTimeMs) ?? proofFault
        if (reason !== null) return { valid: false, proven: true, reason }
        executions.add(block.hash)
        return { valid: true }
      },
      commit: async (block, certificate) => {
        this.committing = Math.max(this.committing, block.header.number)
        const writeMs = draw(executionMs / 3)
        await executions.finish(block.hash, workOf(block.header))
        await delayOn(host, writeMs)
        if (!host.reaches('before the database has the block')) return never()
        const { proofTip } = decodeExtraData(block.header.extraData)
        const included = await proofs.check(this.#parent(), block.proofHeaders, proofTip)
        this.#append(block, certificate, included)
        executions.moved()
        process.pool.onBlock(this.mainHead(), process.nowMs())
        process.committed()
        if (!host.reaches('after the database has the block')) return never()
      },
      flush: async () => {
        const { number } = this
        if (number === this.#durable) return
        await delayOn(host, syncMs(random))
        this.#durable = number
      },
      decided: async number => this.blocks[number - 1],
      wantsBlock: () => true,
    }
  }

  /** A proposer stops a transaction that takes longer than it may; one that is through stands in the block. */
  async #build(
    { number, parentHash, timestamp, proposer, parentCertificate, transactionMs }: BuildRequest,
    executions: Executions,
    proofs: BlockProofs,
    { workMs, cancelled }: { readonly workMs: number; readonly cancelled: AbortSignal | undefined },
  ): Promise<Block> {
    const { hostileMs } = this.#options
    const isIncluded = hostileMs > 0 && hostileMs <= transactionMs
    const isBuilt = await executions.work(workMs + Math.min(hostileMs, transactionMs), cancelled)
    if (!isBuilt) throw new Error('the build was cancelled')
    const { included, state } = await proofs.select(this.#parent())
    const place = { number, parentHash, timestamp }
    const block = makeBlock(place, proposer, parentCertificate, {
      salt: this.#salt++,
      before: this.state,
      workMs: isIncluded ? hostileMs : 0,
      miner: this.proofState.coinbase,
      proofTip: state.tipId,
      proofHeaders: included.map(({ bytes }) => bytes),
    })
    executions.add(block.hash)
    return block
  }

  #parent(): ProofParent {
    return this.proofs.parentOf(this.blocks.at(-1))
  }

  /** Rules of the proof chain for a child of the head, as the shipped chain applies them. */
  async #proofFault(block: Block, proofs: BlockProofs): Promise<string | null> {
    const extra = readExtraData(block.header)
    if (extra === undefined) return 'its extra data cannot be read'
    if (block.header.miner !== this.proofState.coinbase) return 'it names another miner'
    try {
      await proofs.check(this.#parent(), block.proofHeaders, extra.proofTip)
      return null
    } catch (error) {
      if (!isCoded(error)) throw error
      return error.message
    }
  }

  #append(block: Block, certificate: Certificate, included: readonly IncludedProof[]): void {
    const parent = this.head()
    assert(block.header.number === parent.number + 1, 'blocks follow one another')
    const [stateBefore, proofsBefore] = [this.state, this.proofState]
    this.blocks.push({ block, certificate })
    this.proofs.append({ block, certificate }, proofsBefore, included)
    const seed = this.proofs.seedAt(block.header.number)
    this.#options.onCommitted({ block, certificate, parent, stateBefore, seed })
  }
}
