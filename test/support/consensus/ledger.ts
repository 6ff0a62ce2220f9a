import type { Hex } from '@tandem/base/bytes.ts'
import { emptyBlock } from '../../../devtools/sim/block.ts'
import type {
  BuildRequest,
  DecidedBlock,
  ExecutionPort,
  Head,
  ProposalVerdict,
  ValidateContext,
} from '../../../src/consensus/ports.ts'
import type { BlockCodec } from '../../../src/primitives/block.ts'
import { type Block, decodeBlock, encodeBlock } from '../../../src/primitives/block.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import type { Header } from '../../../src/primitives/header.ts'

export const GENESIS_HASH: Hex = `0x${'11'.repeat(32)}`

export const blockCodec: BlockCodec = {
  encode: encodeBlock,
  decode: async bytes => ({ ...decodeBlock(bytes), transactions: [] }),
}

/** An empty block; `salt` tells blocks of the same place apart. */
export const makeBlock = (
  { number, parentHash, timestamp }: Pick<Header, 'number' | 'parentHash' | 'timestamp'>,
  proposer: Hex,
  parentCertificate: Certificate | null,
  salt: number,
): Block => {
  const vanity = new Uint8Array(4)
  new DataView(vanity.buffer).setUint32(0, salt)
  return emptyBlock({ number, parentHash, timestamp }, { proposer, parentCertificate, vanity })
}

/** The chain of one node in memory. It survives the node: what `commit` finished is there after a crash. */
export class Ledger implements ExecutionPort {
  readonly blocks: DecidedBlock[] = []
  built = 0
  validated = 0
  wanted = 0
  /** Makes the next commit fail, or every build wait for it. */
  failCommit: Error | null = null
  failBuild: Error | null = null
  failFlush: Error | null = null
  /** Waited for in every build. */
  slowness: () => Promise<void> = async () => {}
  /** Waited for in every flush. */
  slowDisk: () => Promise<void> = async () => {}
  /** When commits came, by whoever keeps time. */
  readonly committedMs: number[] = []
  nowMs: () => number = () => 0
  durable = 0
  verdict: ProposalVerdict = { valid: true }
  #salt: number

  constructor(salt = 0) {
    this.#salt = salt
  }

  head(): Head {
    const last = this.blocks.at(-1)
    if (last === undefined) return { number: 0, hash: GENESIS_HASH, timestamp: 0, certificate: null }
    const { number, timestamp } = last.block.header
    return { number, hash: last.block.hash, timestamp, certificate: last.certificate }
  }

  async build(request: BuildRequest): Promise<Block> {
    if (this.failBuild !== null) throw this.failBuild
    this.built++
    await this.slowness()
    return makeBlock(request, request.proposer, request.parentCertificate, this.#salt++)
  }

  async validate(block: Block, _context?: ValidateContext, _cancelled?: AbortSignal): Promise<ProposalVerdict> {
    this.validated++
    return block.header.parentHash === this.head().hash
      ? this.verdict
      : { valid: false, proven: true, reason: 'parent' }
  }

  async commit(block: Block, certificate: Certificate): Promise<void> {
    await Promise.resolve()
    if (this.failCommit !== null) throw this.failCommit
    if (block.header.parentHash !== this.head().hash) throw new Error('not the next block')
    this.blocks.push({ block, certificate })
    this.committedMs.push(this.nowMs())
    this.wanted = Math.max(0, this.wanted - 1)
  }

  async flush(): Promise<void> {
    const asked = this.blocks.length
    if (asked === this.durable) return
    await this.slowDisk()
    if (this.failFlush !== null) throw this.failFlush
    this.durable = Math.max(this.durable, asked)
  }

  /** The machine loses its power, and what was not durable. */
  losePower(): void {
    this.blocks.length = this.durable
  }

  async decided(number: number): Promise<DecidedBlock | undefined> {
    return this.blocks[number - 1]
  }

  wantsBlock(): boolean {
    return this.wanted > 0
  }
}
