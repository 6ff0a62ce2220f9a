import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '@tandem/base/assert.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { Chain } from '../../chain/chain.ts'
import type { DevMinerEngine } from '../../chain/dev/dev-miner.ts'
import { rewindCount } from '../../chain/dev/rewind.ts'
import { BUILD_LIMITS } from '../../config/limits/execution.ts'
import type { CatchUp, ConsensusEngine, EngineStoppedError } from '../../consensus/engine/types.ts'
import type { ConsensusStatus } from '../../consensus/monitor/stats.ts'
import type { BuildRequest, ExecutionPort, Head } from '../../consensus/ports.ts'
import { nodeFileSystem } from '../../consensus/wal/file-system.ts'
import { createWalAfter } from '../../consensus/wal/memory-wal.ts'
import type { Block } from '../../primitives/block.ts'
import { type Certificate, certificateFromSigners } from '../../primitives/consensus/certificate.ts'
import { blockVoteDigest, type ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { isStoreError } from '../../storage/errors.ts'
import type { Store } from '../../storage/store.ts'
import { blockCodec } from '../parts/consensus/block-codec.ts'
import { type ConsensusPartsOptions, createConsensus, signerOf } from '../parts/consensus/consensus.ts'
import { consensusFolder } from '../parts/consensus/consensus-folder.ts'

interface DevEngineOptions extends Omit<ConsensusPartsOptions, 'folder'> {
  readonly execution: ExecutionPort & Pick<Chain, 'extend'>
  readonly store: Store
  /** undefined: log and watermark end with the process. */
  readonly dataDir: string | undefined
}

/**
 * Engine of a development chain, which can be stopped while blocks are reverted. Its log and watermark belong to the current
 * blocks: each rewind increments a number, in the batch that removes the blocks, and the next engine writes to a folder of that
 * number. Earlier signatures are in another folder, at whatever moment the process ends.
 */
export class DevEngine implements ConsensusEngine {
  readonly #options: DevEngineOptions
  #engine: ConsensusEngine | undefined
  #folder: string | undefined
  #stopped = false
  /** Work that needs the store, while no engine runs. */
  #working: Promise<void> = Promise.resolve()

  constructor(options: DevEngineOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { dataDir } = this.#options
    const folder = dataDir === undefined ? undefined : await this.#beginFolder(dataDir)
    if (this.#stopped) return
    this.#engine = await createConsensus({ ...this.#options, folder })
    await this.#engine.start()
    if (folder !== undefined) await this.#removeLast(folder)
  }

  async #beginFolder(dataDir: string): Promise<string> {
    const { store, execution, recovery } = this.#options
    const rewinds = await rewindCount(store)
    const folder = consensusFolder(dataDir, rewinds)
    if (rewinds === 0) return folder
    makeFolder(folder)
    await createWalAfter(nodeFileSystem, join(folder, 'wal'), execution.head(), blockCodec(recovery))
    return folder
  }

  /**
   * Runs the work while no engine runs; then starts another one on the resulting head, also when the work fails. After a failed write there is
   * none: the next start alone finds out what is on the disk, and a block that was decided before might not follow from it.
   */
  without(work: () => Promise<void>): Promise<void> {
    const done = this.#without(work)
    this.#working = done.catch(() => {})
    return done
  }

  async #without(work: () => Promise<void>): Promise<void> {
    await this.#engine?.stop()
    this.#engine = undefined
    try {
      await work()
    } catch (error) {
      if (isStoreError(error)) {
        this.#stopped = true
        this.#options.onFatal(error)
      }
      throw error
    } finally {
      // Without an engine no block would ever be made.
      if (!this.#stopped)
        await this.start().catch((error: unknown) => {
          this.#options.onFatal(error instanceof Error ? error : new Error(String(error)))
          throw error
        })
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#working
    await this.#engine?.stop()
  }

  requestBlock(dueMs?: number): void {
    this.#engine?.requestBlock(dueMs)
  }

  /**
   * Runs work that makes many blocks while no engine runs, without rounds and log: this node decides alone, and nobody hears of a block
   * before it is written. A log that ends before the head says nothing about the blocks after it.
   */
  makeBlocks: DevMinerEngine['makeBlocks'] = work => {
    const { execution } = this.#options
    const seal = (block: Block) => this.#seal(block)
    return this.without(async () => {
      try {
        await work(timestampAfter =>
          execution.extend(parent => {
            const timestamp = timestampAfter(parent.timestamp)
            return timestamp === undefined ? undefined : { ...this.request(parent), timestamp }
          }, seal),
        )
      } finally {
        await execution.flush()
      }
    })
  }

  /** True when the next block is decided by this node alone. */
  get isAlone(): boolean {
    const { council, execution } = this.#options
    const members = council.committee(execution.head().number + 1)?.members
    return members?.length === 1 && members[0] === this.#signer.address
  }

  /** Returns the request for the child of a block, of the head by default, as this node alone would decide it. */
  request({ number, hash, timestamp, certificate }: Head = this.#options.execution.head()): BuildRequest {
    return {
      ...{
        number: number + 1,
        round: 0,
        parentHash: hash,
        timestamp,
        proposer: this.#signer.address,
        parentCertificate: certificate,
      },
      ...{ budgetMs: BUILD_LIMITS.buildMs, transactionMs: BUILD_LIMITS.loneTransactionMs, gasShare: 1 },
    }
  }

  #seal({ hash, header }: Block): Certificate {
    const vote = { type: 'commit', number: header.number, round: 0, blockHash: hash } as const
    const { params, genesisHash } = this.#options
    const digest = blockVoteDigest({ chainId: params.chainId, genesisHash }, vote)
    return certificateFromSigners(0, 1, new Map([[0, this.#signer.sign(digest)]]))
  }

  get #signer(): ValidatorSigner {
    const { validatorKey } = this.#options
    assert(validatorKey !== null, 'a development chain has its validator here')
    return signerOf(validatorKey)
  }

  async catchUp(work: CatchUp): Promise<void> {
    if (this.#engine === undefined) throw new CodedError<EngineStoppedError>({ code: 'ENGINE_STOPPED' })
    await this.#engine.catchUp(work)
  }

  giveUp(reason: Error): void {
    this.#engine?.giveUp(reason)
  }

  status(): ConsensusStatus {
    return this.#engine?.status() ?? NOT_RUNNING
  }

  /** The log of removed blocks is not needed. */
  async #removeLast(folder: string): Promise<void> {
    const last = this.#folder
    this.#folder = folder
    if (last === undefined || last === folder || this.#options.dataDir === undefined) return
    if (last.startsWith(join(this.#options.dataDir, 'consensus', 'after-')))
      await rm(last, { recursive: true, force: true })
  }
}

const NOT_RUNNING: ConsensusStatus = {
  mode: 'stopped',
  isIdle: true,
  number: 0,
  round: 0,
  committeeSize: 0,
  quorum: 0,
  prepares: 0,
  commits: 0,
  missing: [],
  held: 0,
  heldBlocks: 0,
  decided: 0,
  decidedLate: 0,
  roundChanges: 0,
  evidence: 0,
  rejectedMessages: 0,
  lastDecisionMs: 0,
}
