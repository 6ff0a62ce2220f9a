import type { BuildRequest, DecidedBlock, ExecutionPort, Head, ProposalVerdict } from '../../consensus/ports.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { Block } from '../../primitives/block.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { Header } from '../../primitives/header.ts'
import { minTimestampStepSeconds } from '../../rules/timestamp.ts'
import { assert } from '../../util/assert.ts'
import { type Hex, hexToBytes, ZERO_HASH } from '../../util/bytes.ts'
import { type EmptyBlockFields, emptyBlock } from '../block.ts'
import type { Random } from '../random.ts'
import { START_MS } from './clock.ts'
import { syncMs } from './disk.ts'
import { delayOn, type Host, never } from './host.ts'

export const GENESIS_HASH: Hex = `0x${'11'.repeat(32)}`
export const GENESIS_HEAD: Head = { number: 0, hash: GENESIS_HASH, timestamp: START_MS / 1000, certificate: null }

/** Result of executing a block: derived from the previous state and the block's gas used. */
const stateAfter = (before: Hex, { gasUsed }: Pick<Header, 'gasUsed'>): Hex => {
  const state = hexToBytes(before).slice()
  new DataView(state.buffer).setBigUint64(0, gasUsed)
  return keccak256Hex(state)
}

/** Rules of every block, independent of the node; null when it follows them. */
export const blockFault = ({ header }: Block, parent: Head, stateBefore: Hex, blockTimeMs: number): string | null => {
  if (header.number !== parent.number + 1 || header.parentHash !== parent.hash) return 'it does not follow its parent'
  if (header.timestamp < parent.timestamp + minTimestampStepSeconds(blockTimeMs)) return 'it is too close to its parent'
  return header.stateRoot === stateAfter(stateBefore, header) ? null : 'its state root is wrong'
}

/** Creates a block on a parent; `salt` distinguishes those of one position. An invalid one has a wrong state root. */
export const makeBlock = (
  place: EmptyBlockFields,
  proposer: Hex,
  parentCertificate: Certificate | null,
  { salt, before, isValid = true }: { readonly salt: number; readonly before: Hex; readonly isValid?: boolean },
): Block => {
  const gasUsed = BigInt(salt)
  const stateRoot = isValid ? stateAfter(before, { gasUsed }) : ZERO_HASH
  return emptyBlock({ ...place, gasUsed, stateRoot }, { proposer, parentCertificate })
}

interface LedgerOptions {
  /** Start of the salts, so that blocks of different nodes differ. */
  readonly firstSalt: number
  readonly blockTimeMs: number
  /** Mean duration of building and validating; committing takes a third. */
  readonly executionMs: number
  readonly random: Random
  readonly onCommitted: (block: Block, certificate: Certificate, parent: Head, stateBefore: Hex) => void
}

/** Chain of one node, which outlives the process. A power failure may lose unflushed blocks. */
export class Ledger {
  readonly blocks: DecidedBlock[] = []
  /** Highest number that the engine committed. */
  committing = 0
  readonly #options: LedgerOptions
  #salt: number
  /** Number of the last block on its disk. */
  #durable = 0

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#salt = options.firstSalt
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

  /** Simulates a power failure: unflushed blocks remain or not. */
  losePower(): void {
    const lost = this.#options.random.below(this.number - this.#durable + 1)
    this.blocks.length -= lost
    this.#durable = this.number
    this.committing = this.number
  }

  /**
   * Execution port of one process: every operation takes time, and power may fail before or after the database's batch.
   */
  port(host: Host): ExecutionPort {
    const { executionMs, random, blockTimeMs } = this.#options
    const work = (meanMs: number) => delayOn(host, meanMs * -Math.log(1 - random.next()))
    return {
      head: () => this.head(),
      build: async request => {
        await work(executionMs)
        return this.#build(request)
      },
      validate: async (block): Promise<ProposalVerdict> => {
        await work(executionMs)
        const reason = blockFault(block, this.head(), this.state, blockTimeMs)
        return reason === null ? { valid: true } : { valid: false, proven: true, reason }
      },
      commit: async (block, certificate) => {
        this.committing = Math.max(this.committing, block.header.number)
        await work(executionMs / 3)
        if (!host.reaches('before the database has the block')) return never()
        this.#append(block, certificate)
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

  #build({ number, parentHash, timestamp, proposer, parentCertificate }: BuildRequest): Block {
    const place = { number, parentHash, timestamp }
    return makeBlock(place, proposer, parentCertificate, { salt: this.#salt++, before: this.state })
  }

  #append(block: Block, certificate: Certificate): void {
    const parent = this.head()
    assert(block.header.number === parent.number + 1, 'blocks follow one another')
    const before = this.state
    this.blocks.push({ block, certificate })
    this.#options.onCommitted(block, certificate, parent, before)
  }
}
