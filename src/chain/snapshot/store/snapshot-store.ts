import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { SNAPSHOT_LIMITS } from '../../../config/limits/sync.ts'
import type { ServePort } from '../../../network/messages/ports.ts'
import { readCode } from '../../../state/flat-tables.ts'
import type { Store } from '../../../storage/store.ts'
import { startSnapshotWorker } from '../workers.ts'
import { dropUnfinished, listSnapshotFolders, SnapshotFolder } from './snapshot-folder.ts'
import type { SnapshotWorkerMethods } from './snapshot-worker.ts'

interface SnapshotStoreOptions {
  readonly store: Store
  /** Folder of the snapshots. */
  readonly root: string
  /** Blocks between two snapshots; 0: none is made. Existing ones are still served. */
  readonly intervalBlocks: number
  readonly logger: Logger
}

/** Snapshots of this node: made in a worker thread every `intervalBlocks`, stored as files, served to peers. */
export class SnapshotStore {
  readonly #options: SnapshotStoreOptions
  #folders: readonly SnapshotFolder[] = []
  /** Times of the last request for a chunk, by the number of the snapshot. */
  readonly #requestedMs = new Map<number, number>()
  #workerThread: WorkerClient<SnapshotWorkerMethods> | undefined
  #making: Promise<void> | undefined

  private constructor(options: SnapshotStoreOptions) {
    this.#options = options
  }

  static async open(options: SnapshotStoreOptions): Promise<SnapshotStore> {
    const library = new SnapshotStore(options)
    await dropUnfinished(options.root)
    await library.#read()
    return library
  }

  /** Handles a new head: starts a snapshot when due. One is made at a time; a due block during that time is skipped. */
  onBlock(number: number): void {
    const { intervalBlocks } = this.#options
    if (intervalBlocks === 0 || number % intervalBlocks !== 0 || this.#making !== undefined) return
    this.#making = this.#make(number).finally(() => {
      this.#making = undefined
    })
  }

  /** Resolves when no snapshot is being made. */
  async settled(): Promise<void> {
    await this.#making
  }

  readonly serve: Required<Pick<ServePort, 'manifest' | 'chunk' | 'codes'>> = {
    manifest: async () => this.#folders[0]?.manifest ?? null,
    chunk: async (snapshot, index) => {
      const folder = this.#folders.find(({ id }) => id === snapshot)
      if (folder !== undefined) this.#requestedMs.set(folder.number, performance.now())
      return folder?.chunk(index)
    },
    codes: async (hashes, maxBytes) => {
      const codes: Uint8Array[] = []
      let bytes = 0
      for (const hash of hashes) {
        const code = readCode(this.#options.store, hash)
        bytes += code.byteLength
        if (code.byteLength === 0 || (bytes > maxBytes && codes.length > 0)) break
        codes.push(code)
      }
      return codes
    },
  }

  async close(): Promise<void> {
    await this.#workerThread?.close()
    await this.#making
  }

  async #make(number: number): Promise<void> {
    const { store, root, logger } = this.#options
    const startedMs = performance.now()
    try {
      this.#workerThread ??= startSnapshotWorker(store, root)
      const report = await this.#workerThread.call('make', number, this.#inUse())
      await this.#read()
      logger.info({ ...report, ms: Math.round(performance.now() - startedMs) }, 'snapshot made')
    } catch (error) {
      // The next snapshot starts over, in a new thread if this one died.
      if (this.#workerThread?.isOpen === false) this.#workerThread = undefined
      if (!isCoded(error) || error.code !== 'WORKER_CLOSED') logger.error({ err: error, number }, 'snapshot not made')
    }
  }

  /** Snapshots that a peer fetches now: replacing them would make it begin again, each interval. */
  #inUse(): readonly number[] {
    const { inUseMs, keptInUse } = SNAPSHOT_LIMITS
    const since = performance.now() - inUseMs
    for (const [number, atMs] of this.#requestedMs) if (atMs < since) this.#requestedMs.delete(number)
    return [...this.#requestedMs.keys()].sort((a, b) => b - a).slice(0, keptInUse)
  }

  async #read(): Promise<void> {
    const { root, logger } = this.#options
    const folders: SnapshotFolder[] = []
    for (const number of (await listSnapshotFolders(root)).slice(0, SNAPSHOT_LIMITS.kept + SNAPSHOT_LIMITS.keptInUse)) {
      try {
        folders.push(await SnapshotFolder.open(root, number))
      } catch (error) {
        logger.warn({ err: error, number }, 'unreadable snapshot not served')
      }
    }
    this.#folders = folders
  }
}
