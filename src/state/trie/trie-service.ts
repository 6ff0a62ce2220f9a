import { BoundedMutex } from '@tandem/base/async/bounded-mutex.ts'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { WorkerEnded } from '@tandem/base/worker/protocol.ts'
import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { WORKER_LIMITS } from '../../config/limits/execution.ts'
import { memoryShares, TRIE_LIMITS } from '../../config/limits/storage.ts'
import type { Store } from '../../storage/store.ts'
import { EMPTY_ROOT } from '../account.ts'
import type { PackedBatch } from '../batch.ts'
import type { TrieAnswer, TrieArgs, TrieCalls, TrieMethods } from './protocol.ts'
import type { RowSizes, TriePosition } from './row-keeper.ts'
import { TrieExecutor } from './trie-executor.ts'
import { type TrieMark, TrieRows } from './trie-rows.ts'
import type { ApplyResult, PreviewRequest, ProofRequest, StateProof, TrieError, TrieStats } from './types.ts'

export interface TrieServiceOptions {
  /** Undo layers kept beneath the newest; older blocks can no longer be undone. */
  readonly layers?: number
  /** false runs the trie in the calling thread: for tests and small temporary states. */
  readonly worker?: boolean
  /** The worker's file, for a bundle with another layout. */
  readonly workerUrl?: URL
  /** Called once when the trie fails (its memory is full, the thread ended); every call then fails with TRIE_FAILED. */
  readonly onFailure?: (error: Error) => void
}

/** Thread of the trie: a worker, or this one. */
interface Host {
  attach(store: Store, sizes: RowSizes): Promise<void>
  call(name: keyof TrieCalls, args: TrieArgs): Promise<TrieAnswer>
  close(): Promise<void>
}

/**
 * Account trie and all storage tries, in a worker thread. Calls other than proofs and previews are executed in order. Every rejection is
 * a CodedError<TrieError>; after TRIE_UNKNOWN_ROOT and TRIE_BAD_BATCH the trie is unchanged, and every call names its root. Batches are
 * consumed by the call (their buffers move to the other thread).
 */
export class TrieService {
  private readonly host: Host
  private currentRoot: Hex = EMPTY_ROOT
  private attached = false
  /** Rows read for the last block. */
  private rowsRead = 0
  private readonly proofs = new BoundedMutex(TRIE_LIMITS.proofs, trieBusyError)

  private constructor(host: Host) {
    this.host = host
  }

  static async open(options: TrieServiceOptions = {}): Promise<TrieService> {
    const layers = options.layers ?? TRIE_LIMITS.undoLayers
    if (options.worker === false) return new TrieService(new LocalHost(layers, options.onFailure))
    const url = options.workerUrl ?? new URL('./trie-worker.ts', import.meta.url)
    const service = new TrieService(new WorkerHost(url, layers, options.onFailure))
    await service.stats() // resolves when the thread is up, else rejects
    return service
  }

  /** Root of the trie after the last finished call; EMPTY_ROOT when new. */
  get root(): Hex {
    return this.currentRoot
  }

  /** Keeps the trie in rows, before all else but `begin`, written after `flushBlocks` blocks; `cacheBytes` of nodes stay in memory. */
  async attach(
    store: Store,
    flushBlocks: number = TRIE_LIMITS.flushBlocks,
    cacheBytes: number = memoryShares().trie,
  ): Promise<void> {
    await this.host.attach(store, { flushBlocks, cacheBytes })
    this.attached = true
  }

  /** Starts over with the rows that are there, which have this mark; undefined: with none, and deletes any. */
  async begin(at: TrieMark | undefined): Promise<void> {
    await this.ask('begin', at)
  }

  /** Fills the trie at start, as `apply` without undo and results. Returns the root so far. `position`: where to go on after a stop. */
  async load(batch: PackedBatch, position?: TriePosition): Promise<Hex> {
    await this.ask('load', batch.buffer, position)
    return this.currentRoot
  }

  /** Applies a block's changes to `parentRoot`. Layers above that root are undone first; an unknown root is TRIE_UNKNOWN_ROOT. */
  async apply(parentRoot: Hex, batch: PackedBatch): Promise<ApplyResult> {
    const { root, value } = await this.ask('apply', parentRoot, batch.buffer)
    this.rowsRead = value.rowsRead
    const roots = new Uint8Array(value.storageRoots)
    const storageRoots = new Map<Hex, Hex>()
    for (const [i, key] of batch.storageOf.entries())
      storageRoots.set(key, bytesToHex(roots.subarray(i * 32, i * 32 + 32)))
    return { root, storageRoots }
  }

  /** Makes `root` final: layers beneath are dropped, earlier roots are not requested again. `number`: its block, written where rows are kept. */
  async commit(root: Hex, number?: number): Promise<void> {
    await this.ask('commit', root, number)
  }

  /** True while blocks touch accounts and slots whose rows are not in memory: then `prefetch` is worth its messages. */
  get readsRows(): boolean {
    return this.rowsRead >= TRIE_LIMITS.prefetchRows
  }

  /** Reads rows for a block that will be applied (`Trie.prefetch`). The buffer is consumed. */
  prefetch(keys: ArrayBuffer): void {
    // A failure here is that of the next call too.
    this.ask('prefetch', keys).catch(() => {})
  }

  /** Resolves when the rows of the last commit are written. */
  async flush(): Promise<void> {
    await this.ask('flush')
  }

  /** Returns the proof at `root`, or after a rollback; the result names its root. One runs at a time; too many give TRIE_BUSY. */
  prove(request: ProofRequest): Promise<StateProof> {
    return this.proofs.run(async () => {
      const { root, address, slots, rollback } = request
      return (await this.ask('prove', root, address, slots, buffersOf([rollback]))).value
    })
  }

  /** Returns the state roots of blocks that are never committed, one per batch; queued with the proofs. */
  preview(request: PreviewRequest): Promise<readonly Hex[]> {
    return this.proofs.run(async () => {
      const { root, batches, rollback } = request
      const { value } = await this.ask('preview', root, buffersOf([rollback, ...batches]))
      const roots = new Uint8Array(value).subarray(-32 * batches.length)
      return batches.map((_, i) => bytesToHex(roots.subarray(i * 32, i * 32 + 32)))
    })
  }

  async stats(): Promise<TrieStats> {
    return (await this.ask('stats')).value
  }

  /** Writes the rows and ends the thread; other calls under way are rejected with TRIE_CLOSED. */
  async close(): Promise<void> {
    // Without the last rows the next start applies the blocks after those of the flush before.
    if (this.attached) await this.flush().catch(() => {})
    await this.host.close()
  }

  private async ask<Name extends keyof TrieCalls>(
    name: Name,
    ...args: TrieArgs<Name>
  ): Promise<{ root: Hex; value: ReturnType<TrieCalls[Name]> }> {
    const answer = (await this.host.call(name, args)) as TrieAnswer<Name>
    this.currentRoot = answer.root
    if (answer.error !== undefined) throw new CodedError<TrieError>(answer.error)
    return answer
  }
}

const buffersOf = (batches: readonly (PackedBatch | undefined)[]) => batches.flatMap(batch => batch?.buffer ?? [])

/** Error for more requests than the trie can prove in time. */
export const trieBusyError = () => new CodedError<TrieError>({ code: 'TRIE_BUSY' })

const closedError = () => new CodedError<TrieError>({ code: 'TRIE_CLOSED' })
const failedError = (cause: Error) =>
  new CodedError<TrieError>({ code: 'TRIE_FAILED', reason: cause.message }, { cause })

class LocalHost implements Host {
  private readonly executor: TrieExecutor
  private readonly onFailure: ((error: Error) => void) | undefined
  private ended: CodedError<TrieError> | undefined

  constructor(layers: number, onFailure: ((error: Error) => void) | undefined) {
    this.executor = new TrieExecutor(layers)
    this.onFailure = onFailure
  }

  async attach(store: Store, sizes: RowSizes): Promise<void> {
    this.executor.attach(new TrieRows(store), sizes)
  }

  async call(name: keyof TrieCalls, args: TrieArgs): Promise<TrieAnswer> {
    if (this.ended !== undefined) throw this.ended
    try {
      return await this.executor.execute(name, args)
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error))
      this.ended = failedError(cause)
      this.onFailure?.(cause)
      throw this.ended
    }
  }

  async close(): Promise<void> {
    this.ended = closedError()
  }
}

class WorkerHost implements Host {
  private readonly client: WorkerClient<TrieMethods>
  private store: Store | undefined
  private failure: CodedError<TrieError> | undefined

  constructor(url: URL, layers: number, onFailure: ((error: Error) => void) | undefined) {
    this.client = new WorkerClient({
      name: 'trie',
      url,
      data: { layers },
      limits: { maxYoungGenerationSizeMb: WORKER_LIMITS.nurseryMegabytes },
      hasStore: true,
      onEnd: error => {
        this.failure = failedError(error)
        // It may have been writing.
        this.store?.writerEnded()
        onFailure?.(error)
      },
    })
  }

  async attach(store: Store, sizes: RowSizes): Promise<void> {
    this.store = store
    await this.client.send('attach', [store.share(), sizes]).result
  }

  async call(name: keyof TrieCalls, args: TrieArgs): Promise<TrieAnswer> {
    try {
      const transfer = args.flat().filter(arg => arg instanceof ArrayBuffer)
      // Rejects when a batch is passed twice.
      return await this.client.send('execute', [name, args], { transfer }).result
    } catch (error) {
      if (error instanceof WorkerEnded) throw this.failure ?? failedError(error)
      throw isCoded(error) ? closedError() : error
    }
  }

  async close(): Promise<void> {
    if (this.failure === undefined) await this.client.send('close', []).result.catch(() => {})
    await this.client.close()
  }
}
