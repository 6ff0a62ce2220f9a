import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { STRATUM_LIMITS } from '../../../config/limits/stratum.ts'
import { nativeSealHash, sha256dHash } from '../../../crypto/proof-hash.ts'
import type { ProofTemplate } from '../../../primitives/proof-header.ts'
import type { StratumJob, Submission } from './dialects.ts'
import { type Refusal, shareRefusal } from './refusals.ts'
import { hashesOfTarget } from './share-target.ts'

interface BookedJob extends StratumJob {
  /** Nonces of the shares so far. */
  readonly nonces: Set<string>
}

/** Share that passed every check that costs no Argon2id hash. */
export interface CheckedShare {
  readonly job: StratumJob
  readonly nonce: Uint8Array
  readonly mixHash: Uint8Array | undefined
}

/** Jobs of a connection on the tip with the nonces of each. Checks shares, cheapest check first, so junk costs no Argon2id. */
export class JobBook {
  readonly #jobs = new Map<string, BookedJob>()
  /** Seal hashes of retired jobs, oldest first. */
  readonly #retired = new Set<string>()
  readonly #rates: Readonly<Record<1 | 2, TokenBucket>>
  #nextId = 1

  constructor(nowMs: number) {
    const { shares } = STRATUM_LIMITS
    this.#rates = { 1: new TokenBucket(shares[1], nowMs), 2: new TokenBucket(shares[2], nowMs) }
  }

  /** Adds a job; `clean` retires the earlier ones. */
  add(sealHash: Hex, template: ProofTemplate, shareTarget: bigint, clean: boolean): StratumJob {
    const nonces = this.#find(sealHash)?.nonces ?? new Set<string>()
    if (clean) this.clear()
    const id = (this.#nextId++).toString(16)
    // Another share target for the same seal hash: the nonces are the same, and none counts twice.
    const job: BookedJob = { id, sealHash, template, shareTarget, hashes: hashesOfTarget(shareTarget), nonces }
    this.#jobs.set(id, job)
    const [oldest] = this.#jobs.values()
    if (oldest !== undefined && this.#jobs.size > STRATUM_LIMITS.jobs) this.#retire(oldest)
    return job
  }

  clear(): void {
    for (const job of [...this.#jobs.values()]) this.#retire(job)
  }

  /** Oldest anchor that a share may have is `oldestAnchor`. */
  check({ job: key, nonce, mixHash }: Submission, oldestAnchor: number, nowMs: number): CheckedShare | Refusal {
    const job = this.#find(key)
    if (job === undefined)
      return this.#wasIssued(key)
        ? shareRefusal('stale', 'the job is over: its tip has a successor')
        : shareRefusal('invalid', 'job not found')
    const text = asBuffer(nonce).toString('hex')
    if (job.nonces.has(text)) return shareRefusal('duplicate', 'the share was submitted before')
    if (job.template.anchorNumber < oldestAnchor) return shareRefusal('stale', 'the job is too old: its anchor expired')
    const version = job.template.version === 2 ? 2 : 1
    if (job.nonces.size >= STRATUM_LIMITS.sharesPerJob || !this.#rates[version].take(nowMs))
      return shareRefusal('limited', 'too many shares: wait for the next difficulty')
    job.nonces.add(text)
    if (version === 1) return sha256dHash(job.sealHash, nonce) <= job.shareTarget ? { job, nonce, mixHash } : LOW
    return mixHash === undefined || nativeSealHash(job.sealHash, nonce, mixHash) <= job.shareTarget
      ? { job, nonce, mixHash }
      : LOW
  }

  #retire({ id, sealHash }: StratumJob): void {
    this.#jobs.delete(id)
    this.#retired.delete(sealHash)
    this.#retired.add(sealHash)
    const [oldest] = this.#retired
    if (oldest !== undefined && this.#retired.size > STRATUM_LIMITS.jobs) this.#retired.delete(oldest)
  }

  #find(key: string): BookedJob | undefined {
    const job = this.#jobs.get(key)
    if (job !== undefined || key.length !== SEAL_HASH_LENGTH) return job
    // A seal hash does not tell which share target the miner knew: the easiest one holds.
    let easiest: BookedJob | undefined
    for (const other of this.#jobs.values())
      if (other.sealHash === key && other.shareTarget > (easiest?.shareTarget ?? -1n)) easiest = other
    return easiest
  }

  #wasIssued(key: string): boolean {
    if (key.length === SEAL_HASH_LENGTH) return this.#retired.has(key)
    return /^[1-9a-f][0-9a-f]{0,11}$/.test(key) && Number.parseInt(key, 16) < this.#nextId
  }
}

const SEAL_HASH_LENGTH = 66
/** A share whose hash is above the share target. */
export const LOW = shareRefusal('lowDifficulty', 'the hash is above the share target')
