import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, toQuantity, toWord } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { Lru } from '@tandem/base/lru.ts'
import { MINING_LIMITS } from '../../config/limits/chain.ts'
import type { ChainParams } from '../../config/networks.ts'
import { PROOF_SEEDS } from '../../crypto/proof-hash.ts'
import { type ProofHeader, type ProofTemplate, proofSealHash } from '../../primitives/proof-header.ts'
import type { ProofPool } from '../proof-pool.ts'

/** Work for a miner. */
export interface MiningJob {
  readonly sealHash: Hex
  readonly template: ProofTemplate
}

interface MiningServiceOptions {
  readonly params: ChainParams
  readonly pool: ProofPool
  /** Default coinbase of jobs; null when every request must name one. */
  readonly coinbase: Hex | null
  /** Extra nonce of this node's jobs, so that two nodes with one coinbase do not search the same nonces. */
  readonly extraNonce: Uint8Array
  readonly clock: Clock
  readonly logger: Logger
}

/** Workers of a Stratum server. */
export interface WorkerRates {
  /** Number of those with recent shares. */
  active(): number
  /** Hashes per second. */
  hashrate(): number
}

/** Mining jobs on the preferred proof tip; accepts solutions and sums hash rates. */
export class MiningService {
  readonly #options: MiningServiceOptions
  readonly #jobs = new Lru<Hex, ProofTemplate>(MINING_LIMITS.jobs)
  /** Jobs of the default coinbase: a client that names many others pushes out none of them. */
  readonly #ownJobs = new Lru<Hex, ProofTemplate>(MINING_LIMITS.jobs)
  readonly #newest = new Lru<Hex, MiningJob>(MINING_LIMITS.jobs)
  readonly #rates = new Lru<Hex, { readonly rate: bigint; readonly atMs: number }>(MINING_LIMITS.rates)
  /** Hash rate source of the built-in miner; undefined while it does not run. */
  ownRate: (() => number) | undefined
  readonly #listeners = new Set<() => void>()
  /** Workers of the Stratum server; undefined while there is none. */
  workers: WorkerRates | undefined
  #found = 0

  constructor(options: MiningServiceOptions) {
    this.#options = options
  }

  /** Extra nonce of this node's headers. */
  get extraNonce(): Uint8Array {
    return this.#options.extraNonce
  }

  /** Valid solutions since the start. */
  get found(): number {
    return this.#found
  }

  /** True while the built-in miner runs, or workers of the Stratum server find shares. */
  running(): boolean {
    return this.ownRate !== undefined || (this.workers?.active() ?? 0) > 0
  }

  /** Hashes per second: own, reported ones that are recent, and those that shares show. */
  hashrate(): bigint {
    const sinceMs = this.#options.clock.nowMs() - MINING_LIMITS.rateMs
    let sum = BigInt(Math.round((this.ownRate?.() ?? 0) + (this.workers?.hashrate() ?? 0)))
    for (const [, { rate, atMs }] of this.#rates.entries()) if (atMs > sinceMs) sum += rate
    return sum
  }

  /** Returns a job that pays `coinbase`; undefined while there is none. The earlier job is returned again while it is recent enough. */
  job(coinbase: Hex | null = this.#options.coinbase): MiningJob | undefined {
    if (coinbase === null) return undefined
    const before = this.#newest.get(coinbase)
    const job = this.nextJob(before, coinbase, this.#options.extraNonce)
    if (job === undefined) return undefined
    // Work that is requested again stays, whoever else requests work.
    const jobs = coinbase === this.#options.coinbase ? this.#ownJobs : this.#jobs
    if (job === before && jobs.get(job.sealHash) !== undefined) return job
    this.#newest.set(coinbase, job)
    jobs.set(job.sealHash, job.template)
    return job
  }

  /** Returns `before` while it is recent enough, or else a new job with this extra nonce, which the caller keeps; undefined without work. */
  nextJob(before: MiningJob | undefined, coinbase: Hex, extraNonce: Uint8Array): MiningJob | undefined {
    const { params, pool } = this.#options
    const template = pool.template(coinbase, extraNonce)
    if (template === undefined) return undefined
    if (before && isGoodEnough(before.template, template, params) && pool.isAnchored(before.template)) return before
    return { sealHash: proofSealHash(params.chainId, template), template }
  }

  /** Work in the shape of getWork: [seal hash, seed, target, height]. */
  work(coinbase: Hex | undefined): readonly [Hex, Hex, Hex, Hex] | undefined {
    const job = this.job(coinbase)
    if (job === undefined) return undefined
    const { version, target, height } = job.template
    const seed = PROOF_SEEDS[version === 2 ? 1 : 0]
    return [job.sealHash, bytesToHex(seed), toWord(target), toQuantity(height)]
  }

  /** Calls back when work may have changed. */
  onWork(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Handles a change of the head or the pending headers. */
  refresh(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Submits a solution; true when it solves a current job of this node. Version 1 has no mix hash: the argument is ignored. */
  async submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): Promise<boolean> {
    const template = this.#ownJobs.get(sealHash) ?? this.#jobs.get(sealHash)
    if (template === undefined) return false
    return this.submit(template, hexToBytes(nonce), template.version === 2 ? hexToBytes(mixHash) : EMPTY_BYTES)
  }

  /** Submits the solution of a template; true when it is valid and new. `worker`: for the log. */
  async submit(template: ProofTemplate, nonce: Uint8Array, mixHash: Uint8Array, worker?: string): Promise<boolean> {
    const { pool, clock, logger } = this.#options
    const header: ProofHeader = { ...template, nonce, mixHash }
    const { height, version, coinbase } = header
    try {
      const outcome = await pool.admit(header, clock.nowMs())
      if (outcome !== 'added') {
        logger.info({ height, outcome, worker }, 'solution not added')
        return false
      }
      this.#found++
      logger.info({ height, version, coinbase, anchor: header.anchorNumber, worker }, 'proof header mined')
      return true
    } catch (error) {
      if (!isCoded(error)) throw error
      logger.info({ height, reason: error.message, worker }, 'solution refused')
      return false
    }
  }

  /** Records the hash rate that a miner reports; it counts for ten seconds. */
  submitHashrate(rate: bigint, id: Hex): boolean {
    this.#rates.set(id, { rate, atMs: this.#options.clock.nowMs() })
    return true
  }
}

/** True when miners may continue with the earlier job: same parent and target, and an anchor only slightly older. */
const isGoodEnough = (before: ProofTemplate, now: ProofTemplate, { proofChain }: ChainParams): boolean =>
  before.parentId === now.parentId &&
  before.target === now.target &&
  now.anchorNumber >= before.anchorNumber &&
  now.anchorNumber - before.anchorNumber < Math.max(1, Math.floor(proofChain.spacingBlocks / REFRESHES))

/** Number of times that a job gets a newer anchor in the expected time of one header. */
const REFRESHES = 6
