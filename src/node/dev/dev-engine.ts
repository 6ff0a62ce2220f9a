import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { rewindCount } from '../../chain/dev/rewind.ts'
import type { CatchUp, ConsensusEngine, ConsensusStatus, EngineStoppedError } from '../../consensus/engine/types.ts'
import { nodeFileSystem } from '../../consensus/wal/file-system.ts'
import { createWalAfter } from '../../consensus/wal/new-wal.ts'
import type { Store } from '../../storage/store.ts'
import { CodedError } from '../../util/errors.ts'
import { makeFolder } from '../../util/fs/make-folder.ts'
import { blockCodec } from '../parts/consensus/block-codec.ts'
import { type ConsensusPartsOptions, createConsensus } from '../parts/consensus/consensus.ts'
import { consensusFolder } from '../parts/consensus/consensus-folder.ts'

interface DevEngineOptions extends Omit<ConsensusPartsOptions, 'folder'> {
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

  /** Runs the work while no engine runs; then starts another one on the resulting head, also when the work fails. */
  async without(work: () => Promise<void>): Promise<void> {
    await this.#engine?.stop()
    this.#engine = undefined
    try {
      await work()
    } finally {
      await this.#startAgain()
    }
  }

  /** Without an engine no block would ever be made. */
  async #startAgain(): Promise<void> {
    try {
      await this.start()
    } catch (error) {
      this.#options.onFatal(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#engine?.stop()
  }

  get headStartMs(): number {
    return this.#engine?.headStartMs ?? 0
  }

  requestBlock(dueMs?: number): void {
    this.#engine?.requestBlock(dueMs)
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
