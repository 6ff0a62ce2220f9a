import { delayUntil } from '@tandem/base/async/delay.ts'
import { bytesToHex, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { MINING_LIMITS } from '../../config/limits/chain.ts'
import type { MiningMethods } from './mining-worker.ts'
import type { SearchResult } from './search.ts'

/** Job of the threads: to find nonces of a seal hash that meet a target. */
export interface MinerWork {
  readonly sealHash: Hex
  readonly version: number
  readonly target: bigint
  /** First bytes of each nonce, at most two; none by default. */
  readonly noncePrefix?: Uint8Array
  /** The source counts every solution, and the search goes on after one: a pool's shares. */
  readonly isPooled?: boolean
}

/** Source of mining jobs and receiver of solutions: this node, or another one over RPC. */
export interface WorkSource {
  /** Returns the current job; undefined when there is none. */
  job(): MinerWork | undefined
  submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): Promise<boolean>
}

interface MinerOptions {
  readonly source: WorkSource
  readonly threads: number
  /** Share of a thread's time that it works, above 0 and at most 1. */
  readonly duty: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Job with the nonces that each thread has searched. */
interface SharedJob extends MinerWork {
  readonly next: number[]
}

/** Threads that search nonces for the jobs of a source, until `stop`. */
export class Miner {
  readonly #options: MinerOptions
  #threads: readonly WorkerClient<MiningMethods>[] = []
  #runs: readonly Promise<void>[] = []
  #job: SharedJob | undefined
  /** Work whose solution is being submitted or was just refused: it is not searched. */
  #solved: Hex | undefined
  /** Wakes the threads that have no job. */
  #wake = Promise.withResolvers<void>()
  #isStopped = false
  #hashes = 0
  #submitting = 0
  /** Total hashes at several moments of the last seconds. */
  #samples: { readonly atMs: number; readonly hashes: number }[] = []

  constructor(options: MinerOptions) {
    this.#options = options
  }

  start(): void {
    const { threads, duty, logger } = this.#options
    const url = new URL('./mining-worker.ts', import.meta.url)
    this.#threads = Array.from({ length: threads }, (_, at) => new WorkerClient({ name: `miner-${at}`, url }))
    this.refresh()
    this.#runs = this.#threads.map((thread, at) => this.#run(thread, at))
    logger.info({ threads, duty }, 'miner started')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake.resolve()
    await Promise.all(this.#threads.map(thread => thread.close()))
    await Promise.all(this.#runs)
  }

  /** Handles a change of the head or the pending headers: threads take the new job, if any. */
  refresh(): void {
    const offered = this.#options.source.job()
    const job = offered?.sealHash === this.#solved ? undefined : offered
    const before = this.#job
    const isSame = job?.sealHash === before?.sealHash
    if (isSame && job?.target === before?.target) return
    // Another share target of the same work: the nonces searched so far are not searched again.
    this.#job = job && { ...job, next: (isSame && before?.next) || this.#threads.map(() => 0) }
    this.#wake.resolve()
    this.#wake = Promise.withResolvers<void>()
  }

  /** Hashes per second over the last ten seconds. */
  hashrate(): number {
    const nowMs = this.#options.clock.nowMs()
    this.#sample(nowMs)
    const [first] = this.#samples
    const elapsedMs = first === undefined ? 0 : nowMs - first.atMs
    return first === undefined || elapsedMs <= 0 ? 0 : ((this.#hashes - first.hashes) * 1_000) / elapsedMs
  }

  async #run(thread: WorkerClient<MiningMethods>, at: number): Promise<void> {
    try {
      while (!this.#isStopped) {
        const job = this.#job
        if (job === undefined) await this.#wake.promise
        else await this.#search(thread, at, job)
      }
    } catch (error) {
      if (this.#isStopped && isCoded(error) && error.code === 'WORKER_CLOSED') return
      this.#options.logger.error({ err: error, thread: at }, 'mining thread ended')
    }
  }

  async #search(thread: WorkerClient<MiningMethods>, at: number, job: SharedJob): Promise<void> {
    const { duty, clock } = this.#options
    const { sealHash, version, target } = job
    const startedMs = clock.nowMs()
    const { next, hashes, found } = await thread.call('search', {
      version,
      sealHash,
      target,
      prefix: Uint8Array.of(...(job.noncePrefix ?? []), at),
      from: job.next[at] ?? 0,
      budgetMs: MINING_LIMITS.batchMs,
    })
    job.next[at] = next
    this.#hashes += hashes
    const nowMs = clock.nowMs()
    this.#sample(nowMs)
    if (found !== undefined) await this.#submit(job, found)
    if (duty < 1 && !this.#isStopped) await delayUntil(clock, nowMs + ((nowMs - startedMs) * (1 - duty)) / duty).over
  }

  async #submit(job: SharedJob, { nonce, mixHash }: NonNullable<SearchResult['found']>): Promise<void> {
    // Another thread may have solved the same work: a second solution would only be a sibling.
    if (this.#job !== job && job.isPooled !== true) return
    const { source, logger } = this.#options
    const mix = mixHash.byteLength === 0 ? ZERO_HASH : bytesToHex(mixHash)
    const submitting = source.submitWork(bytesToHex(nonce), job.sealHash, mix)
    if (job.isPooled === true) {
      const over = submitting.catch(error => logger.warn({ err: error }, 'share not submitted'))
      this.#submitting++
      void over.finally(() => this.#submitting--)
      // A share is no reason to wait, but a flood of them is: the difficulty is about to rise.
      if (this.#submitting > SHARES_IN_FLIGHT) await over
      return
    }
    this.#job = undefined
    this.#solved = job.sealHash
    if (!(await submitting)) await this.#pause()
    if (this.#solved === job.sealHash) this.#solved = undefined
    this.refresh()
  }

  /** Waits a second for other work: the same would be solved at once, and the solution refused again. */
  async #pause(): Promise<void> {
    if (this.#job !== undefined || this.#isStopped) return
    const { clock } = this.#options
    const { over, end } = delayUntil(clock, clock.nowMs() + REFUSED_MS)
    await Promise.race([over, this.#wake.promise])
    end()
  }

  #sample(atMs: number): void {
    const last = this.#samples.at(-1)
    if (last !== undefined && atMs - last.atMs < SAMPLE_MS) return
    this.#samples.push({ atMs, hashes: this.#hashes })
    if (this.#samples.length > SAMPLES) this.#samples.shift()
  }
}

/** Shares submitted without waiting for the responses. */
const SHARES_IN_FLIGHT = 4
const REFUSED_MS = 1_000
const SAMPLE_MS = 1_000
const SAMPLES = 10
