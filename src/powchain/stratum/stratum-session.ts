import { bytesEqual, EMPTY_BYTES, type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { STRATUM_LIMITS, VARDIFF_LIMITS } from '../../config/limits/stratum.ts'
import { checksumAddress } from '../../crypto/checksum.ts'
import { nativeSealHash, sha256dHash } from '../../crypto/proof-hash.ts'
import type { ProofTemplate } from '../../primitives/proof-header.ts'
import type { MiningJob } from '../mining/mining-service.ts'
import {
  type AnnouncedJob,
  dialectOf,
  NO_DIALECT,
  parseStratumRequest,
  type StratumDialect,
  type StratumJob,
  type StratumRequest,
  type Submission,
  workOf,
} from './core/dialects.ts'
import { type CheckedShare, JobBook, LOW } from './core/job-book.ts'
import { FAULT_WEIGHT, type Refusal, type ShareOutcome, STRATUM_CODES, shareRefusal } from './core/refusals.ts'
import { targetOfHashes } from './core/share-target.ts'
import { Vardiff } from './core/vardiff.ts'

/** Coinbase and name of a worker. */
interface StratumLogin {
  readonly coinbase: Hex
  /** Coinbase and worker, as they stand in accounts and logs. */
  readonly worker: string
}

const LOGIN = /^((?:0x)?[0-9a-fA-F]{40})(?:[./]([\w-]{1,32}))?$/

/** Parses `address[.worker]`; returns the reason of a refusal. */
const parseLogin = (user: unknown, name?: string): StratumLogin | string => {
  const [, digits, suffix] = (typeof user === 'string' && LOGIN.exec(user)) || []
  if (digits === undefined)
    return 'the user is ADDRESS or ADDRESS.WORKER: 0x and 40 hex digits, then letters and digits'
  const given: Hex = `0x${digits.replace(/^0x/, '')}`
  const coinbase = given.toLowerCase() as Hex
  if (coinbase === ZERO_ADDRESS) return 'the zero address can be paid by nobody: name your own'
  const isMixed = given !== coinbase && given.slice(2) !== given.slice(2).toUpperCase()
  if (isMixed && checksumAddress(coinbase) !== given)
    return 'the checksum of the address (EIP-55) is wrong: a digit differs, or write it in lower case'
  const worker = suffix ?? (name !== undefined && /^[\w-]{1,32}$/.test(name) ? name : 'default')
  return { coinbase, worker: `${coinbase}.${worker}` }
}

/** Server as one session uses it. */
export interface StratumPort {
  nowMs(): number
  send(message: object): void
  /** Charges a fault of this weight to the miner. */
  fault(weight: number, reason: string): void
  /** Job that pays `coinbase`: `before` while it is good enough, undefined while there is none. */
  nextJob(before: MiningJob | undefined, coinbase: Hex): MiningJob | undefined
  /** Returns false when blocks were taken back and the anchor of the job with them. */
  isAnchored(template: ProofTemplate): boolean
  /** Oldest anchor of a header that the next main block can include. */
  oldestAnchor(): number
  /** Argon2id hash of a share, computed on another thread; undefined when too many wait. */
  mixHash(sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array | undefined>
  /** Records a share of a worker; `hashes`: expected ones of an accepted share. */
  record(worker: string, outcome: ShareOutcome, hashes: number): void
  /** Submits a share that meets the target of the proof chain. Does not reject. */
  solved(job: StratumJob, nonce: Uint8Array, mixHash: Uint8Array, worker: string): Promise<void>
  /** Called once for each worker of the connection, at its first accepted share. */
  joined(worker: string): void
}

/** One connected miner: from its lines to responses, jobs and shares. Lines come in whole; time comes from the port. */
export class StratumSession {
  readonly #port: StratumPort
  readonly #id: string
  /** First bytes of each nonce. */
  readonly #prefix: Uint8Array
  readonly #book: JobBook
  #dialect: StratumDialect | undefined
  /** By the user as given. */
  readonly #logins = new Map<string, StratumLogin>()
  /** Workers with an accepted share. */
  readonly #active = new Set<string>()
  #current: { readonly job: MiningJob; readonly announced: AnnouncedJob } | undefined
  #vardiff: Vardiff | undefined
  #vardiffVersion = 0

  constructor(port: StratumPort, id: string, prefix: Uint8Array) {
    this.#port = port
    this.#id = id
    this.#prefix = prefix
    this.#book = new JobBook(port.nowMs())
  }

  /** True once a worker is authorized. */
  get isLoggedIn(): boolean {
    return this.#logins.size > 0
  }

  /** True once a share was accepted. */
  get isActive(): boolean {
    return this.#active.size > 0
  }

  /** Names of the workers that found a share. */
  get activeWorkers(): Iterable<string> {
    return this.#active
  }

  /** Handles one line without its end. */
  receive(line: string): void {
    const request = parseStratumRequest(line)
    if (request === undefined) {
      this.#port.send({ id: null, result: null, error: [STRATUM_CODES.other, 'a line is one JSON request', null] })
      this.#port.fault(1, 'malformed line')
      return
    }
    this.#dialect ??= dialectOf(request)
    if (this.#dialect === undefined) {
      const { code, message } = NO_DIALECT
      this.#port.send({ id: request.id, result: null, error: [code, message, null] })
      this.#port.fault(1, 'no subscription')
      return
    }
    this.#handle(request, this.#dialect)
  }

  /** Announces a new job when there is one. */
  refresh(): void {
    const [login] = this.#logins.values()
    if (login === undefined) return
    const job = this.#port.nextJob(this.#current?.job, login.coinbase)
    if (job === undefined) {
      // The tip has changed, and the head is its own anchor: work begins with the next main block.
      this.#current = undefined
      this.#book.clear()
    } else if (job !== this.#current?.job) this.#announce(job)
  }

  /** Eases the difficulty of a miner without shares. */
  review(): void {
    if (this.#vardiff?.review(this.#port.nowMs()) === true && this.#current !== undefined)
      this.#announce(this.#current.job)
  }

  #handle(request: StratumRequest, dialect: StratumDialect): void {
    const { id, method, params } = request
    switch (method) {
      case 'mining.subscribe':
        this.#answer(id, dialect.subscribed(this.#id, this.#prefix) ?? NOT_SUBSCRIBABLE)
        break
      case 'mining.extranonce.subscribe':
      case 'eth_submitHashrate':
        this.#answer(id, true)
        break
      case 'mining.authorize':
      case 'eth_submitLogin':
      case 'eth_login':
        this.#login(request)
        break
      case 'eth_getWork':
        this.#answer(id, this.#work())
        break
      case 'mining.submit':
      case 'eth_submitWork':
        void this.#submit(id, dialect.submission(params, this.#prefix))
        break
      default:
        this.#answer(id, { code: STRATUM_CODES.other, message: 'unknown method' })
        this.#port.fault(UNKNOWN_METHOD_WEIGHT, 'unknown method')
    }
  }

  #work(): readonly Hex[] | Refusal {
    if (this.#current !== undefined) return workOf(this.#current.announced)
    return this.isLoggedIn
      ? { code: STRATUM_CODES.other, message: 'no mining work available yet' }
      : { code: STRATUM_CODES.unauthorized, message: 'log in first: eth_submitLogin' }
  }

  #login({ id, params, worker }: StratumRequest): void {
    const isFirst = !this.isLoggedIn
    const login = this.#admit(params[0], worker)
    if (typeof login === 'string') {
      this.#answer(id, { code: STRATUM_CODES.unauthorized, message: login })
      this.#port.fault(1, 'login refused')
      return
    }
    this.#logins.set(params[0] as string, login)
    this.#answer(id, true)
    if (isFirst) this.refresh()
  }

  /** Returns the login of a user, or the reason of a refusal. */
  #admit(user: unknown, worker: string | undefined): StratumLogin | string {
    const login = parseLogin(user, worker)
    if (typeof login === 'string') return login
    const [first] = this.#logins.values()
    if (first !== undefined && first.coinbase !== login.coinbase)
      return 'a connection pays one address: open another one for a second address'
    if (this.#logins.size >= STRATUM_LIMITS.workersPerConnection && !this.#logins.has(user as string))
      return `at most ${STRATUM_LIMITS.workersPerConnection} workers: open another connection`
    return login
  }

  async #submit(id: StratumRequest['id'], submission: Submission | undefined): Promise<void> {
    const [only] = this.#logins.values()
    const user = submission?.user
    const login = typeof user === 'string' ? this.#logins.get(user) : only
    if (login === undefined) {
      this.#answer(id, { code: STRATUM_CODES.unauthorized, message: 'authorize this worker first: mining.authorize' })
      this.#port.fault(1, 'not authorized')
      return
    }
    const checked = submission
      ? this.#book.check(submission, this.#port.oldestAnchor(), this.#port.nowMs())
      : shareRefusal('invalid', 'malformed share: see docs/mining.md for the parameters')
    const share = 'code' in checked ? checked : await this.#hash(checked)
    if ('code' in share) this.#refuseShare(id, share, login)
    else this.#accept(id, share, login)
  }

  /** Computes what a share of version 2 claims; version 1 is checked already. */
  async #hash(share: CheckedShare): Promise<HashedShare | Refusal> {
    const { job, nonce, mixHash } = share
    const { sealHash, template } = job
    if (template.version === 1) return { job, nonce, mixHash: EMPTY_BYTES, hash: sha256dHash(sealHash, nonce) }
    const mix = await this.#port.mixHash(sealHash, nonce)
    if (mix === undefined) return shareRefusal('limited', 'the server is busy: the share was not checked')
    if (mixHash !== undefined && !bytesEqual(mix, mixHash)) return shareRefusal('invalid', 'the mix hash is wrong')
    const hash = nativeSealHash(sealHash, nonce, mix)
    return hash <= job.shareTarget ? { job, nonce, mixHash: mix, hash } : LOW
  }

  #accept(id: StratumRequest['id'], { job, nonce, mixHash, hash }: HashedShare, { worker }: StratumLogin): void {
    this.#answer(id, true)
    // Not at login, which costs a stranger nothing: his lines would fill the log.
    if (!this.#active.has(worker)) {
      this.#active.add(worker)
      this.#port.joined(worker)
    }
    this.#port.record(worker, 'accepted', job.hashes)
    if (hash <= job.template.target) void this.#port.solved(job, nonce, mixHash, worker)
    const isCurrent = job.template.version === this.#vardiffVersion
    if (isCurrent && this.#vardiff?.count(job.hashes, this.#port.nowMs()) === true && this.#current !== undefined)
      this.#announce(this.#current.job)
  }

  #refuseShare(id: StratumRequest['id'], refusal: Refusal, { worker }: StratumLogin): void {
    const outcome = refusal.outcome ?? 'invalid'
    this.#answer(id, refusal)
    this.#port.record(worker, outcome, 0)
    this.#port.fault(FAULT_WEIGHT[outcome], outcome)
  }

  /** Announces a job, or its new share target; a share target is never harder than the target of the header. */
  #announce(job: MiningJob): void {
    const { sealHash, template } = job
    const { version, target, parentId } = template
    const before = this.#current
    if (this.#vardiff === undefined || this.#vardiffVersion !== version) {
      this.#vardiff = new Vardiff(VARDIFF_LIMITS.firstHashes[version === 2 ? 2 : 1], this.#port.nowMs())
      this.#vardiffVersion = version
    }
    const wanted = targetOfHashes(this.#vardiff.hashes)
    const shareTarget = wanted > target ? wanted : target
    const isNewTarget = before?.announced.shareTarget !== shareTarget
    if (before?.job === job && !isNewTarget) return
    const clean = before?.job.template.parentId !== parentId || !this.#port.isAnchored(before.job.template)
    const announced = { ...this.#book.add(sealHash, template, shareTarget, clean), clean }
    this.#current = { job, announced }
    for (const message of this.#wire.announce(announced, isNewTarget)) this.#port.send(message)
  }

  get #wire(): StratumDialect {
    const dialect = this.#dialect
    if (dialect === undefined) throw new Error('a session without a dialect has no responses')
    return dialect
  }

  /** Sends the result of a request, or its refusal. */
  #answer(id: StratumRequest['id'], outcome: unknown): void {
    const isRefusal = typeof outcome === 'object' && outcome !== null && 'code' in outcome
    this.#port.send(isRefusal ? this.#wire.error(id, outcome as Refusal) : this.#wire.result(id, outcome))
  }
}

interface HashedShare {
  readonly job: StratumJob
  readonly nonce: Uint8Array
  readonly mixHash: Uint8Array
  readonly hash: bigint
}

const UNKNOWN_METHOD_WEIGHT = 0.2
const NOT_SUBSCRIBABLE: Refusal = { code: STRATUM_CODES.other, message: 'this connection speaks getwork' }
