import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { addressGroup } from '@tandem/base/address.ts'
import { assert } from '@tandem/base/assert.ts'
import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { concatBytes, type Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { STRATUM_LIMITS } from '../../config/limits/stratum.ts'
import type { ChainParams } from '../../config/networks.ts'
import { anchorsFor } from '../../rules/proof/proof-header.ts'
import type { MiningService, WorkerRates } from '../mining/mining-service.ts'
import type { MainHead, ProofPool } from '../proof-pool.ts'
import type { WorkVerifier } from '../work-verifier.ts'
import type { StratumJob } from './core/dialects.ts'
import { createMinerAdmission, type MinerAdmission } from './core/miner-admission.ts'
import { ShareAccounts } from './core/share-accounts.ts'
import { readLines } from './line-reader.ts'
import type { StratumMetrics } from './stratum-metrics.ts'
import { type StratumPort, StratumSession } from './stratum-session.ts'

interface MinerConnection {
  readonly socket: Socket
  readonly session: StratumSession
  readonly address: string
  readonly sinceMs: number
  lastLineMs: number
  /** Closed by the server. */
  isEnding: boolean
}

interface StratumServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly params: ChainParams
  readonly service: Pick<MiningService, 'nextJob' | 'submit'>
  readonly pool: Pick<ProofPool, 'head' | 'isAnchored'>
  readonly verifier: Pick<WorkVerifier, 'mixHash' | 'keep'>
  /** Extra nonce of this node's headers; the server adds that of the connection. */
  readonly extraNonce: Uint8Array
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics?: StratumMetrics | undefined
  readonly admission?: MinerAdmission
}

/** Marks headers of Stratum jobs, so that they differ from jobs of getWork with the same coinbase. */
const STRATUM_MARK = 0x53
/** Interval of reviews: difficulty, idle connections. */
const REVIEW_MS = 1_000
const CLOSE_MS = 1_000
const PREFIXES = 2 ** 16

const HASHING = {
  total: STRATUM_LIMITS.argon2AtOnce,
  client: STRATUM_LIMITS.argon2AtOnce,
  queue: STRATUM_LIMITS.argon2Waiting,
}

/** Stratum server: connections, their limits, and the accounts of their workers. */
export class StratumServer implements WorkerRates {
  readonly #options: StratumServerOptions
  readonly #server: Server
  readonly #admission: MinerAdmission
  readonly accounts = new ShareAccounts()
  /** Argon2id hashes of shares: a few at once, a bounded queue, and a rate for all connections together. */
  readonly #hashing = new FairSemaphore(HASHING, () => new Error('too many shares wait'))
  readonly #hashRate: TokenBucket
  #argon2Count = 0
  /** Open connections by the first two bytes of their nonces, which no two of them share. */
  readonly #connections = new Map<number, MinerConnection>()
  #nextPrefix = 0
  /** Tip whose successor was found here, and the main head then: another object once blocks were taken back, even to the same block. */
  #lastSolved: { readonly parentId: Hex; readonly head: MainHead } | undefined
  #isRefreshing = false
  #isStale = false
  #cancelReview: () => void = () => {}
  #reportMs: number

  constructor(options: StratumServerOptions) {
    const { clock } = options
    this.#options = options
    this.#admission = options.admission ?? createMinerAdmission()
    this.#hashRate = new TokenBucket(STRATUM_LIMITS.argon2, clock.nowMs())
    this.#server = createServer({ noDelay: true, keepAlive: true }, socket => this.#accept(socket))
    this.#reportMs = clock.nowMs() + STRATUM_LIMITS.reportMs
  }

  /** Argon2id hashes of shares since the start. */
  get argon2Count(): number {
    return this.#argon2Count
  }

  get connections(): number {
    return this.#admission.connections
  }

  active(): number {
    return this.accounts.active(this.#options.clock.nowMs())
  }

  hashrate(): number {
    return this.accounts.hashrate(this.#options.clock.nowMs())
  }

  /** Number of banned addresses. */
  banned(): number {
    return this.#admission.banned(this.#options.clock.nowMs())
  }

  /** Rejects with the error of a port in use. Resolves to the port. */
  async listen(): Promise<number> {
    const { host, port, logger } = this.#options
    this.#server.listen({ host, port })
    await once(this.#server, 'listening')
    this.#server.on('error', error => logger.error({ err: error }, 'stratum server failed'))
    const address = this.#server.address()
    assert(typeof address === 'object' && address !== null, 'a listening server has an address')
    this.#review()
    logger.info({ host, port: address.port }, 'stratum server started')
    return address.port
  }

  async close(): Promise<void> {
    this.#cancelReview()
    const closed = this.#server[Symbol.asyncDispose]()
    for (const { socket } of this.#connections.values()) socket.destroy()
    await closed
  }

  /** Handles a change of the head or the pending headers: miners get new jobs. */
  refresh(): void {
    this.#isStale = true
    if (!this.#isRefreshing) void this.#refreshAll()
  }

  async #refreshAll(): Promise<void> {
    this.#isRefreshing = true
    while (this.#isStale) {
      this.#isStale = false
      for (const { session } of [...this.#connections.values()]) {
        session.refresh()
        await sliceOver()
      }
    }
    this.#isRefreshing = false
  }

  #accept(socket: Socket): void {
    const { clock, logger, metrics } = this.#options
    const address = socket.remoteAddress ?? ''
    const nowMs = clock.nowMs()
    socket.on('error', error => logger.debug({ address, reason: error.message }, 'miner connection failed'))
    const refusal = this.#admission.enter(address, nowMs)
    if (refusal !== undefined) {
      metrics?.refused.inc({ reason: refusal })
      logger.debug({ address, reason: refusal }, 'miner refused')
      socket.destroy()
      return
    }
    const prefix = this.#takePrefix()
    const id = randomBytes(8).toString('hex')
    const bytes = Uint8Array.of(prefix >> 8, prefix & 0xff)
    const session: StratumSession = new StratumSession(this.#portOf(socket, address, id, bytes), id, bytes)
    const connection: MinerConnection = { socket, session, address, sinceMs: nowMs, lastLineMs: nowMs, isEnding: false }
    this.#connections.set(prefix, connection)
    this.#makeRoom()
    const stopReading = readLines({
      socket,
      clock,
      onLine(line) {
        connection.lastLineMs = clock.nowMs()
        session.receive(line)
      },
      onTooLong: () => this.#end(connection, 'line too long'),
    })
    socket.once('close', () => {
      stopReading()
      this.#connections.delete(prefix)
      this.#admission.leave(address)
      for (const worker of session.activeWorkers)
        logger.info({ address, worker, ...this.accounts.account(worker, clock.nowMs())?.counts }, 'worker left')
    })
  }

  /** Returns a prefix that no open connection has. */
  #takePrefix(): number {
    while (this.#connections.has(this.#nextPrefix)) this.#nextPrefix = (this.#nextPrefix + 1) % PREFIXES
    const prefix = this.#nextPrefix
    this.#nextPrefix = (prefix + 1) % PREFIXES
    return prefix
  }

  /** When the server is full, ends the youngest connection of the address that has the most, rather one without an accepted share. */
  #makeRoom(): void {
    const crowded = this.#admission.crowded()
    let ended: MinerConnection | undefined
    for (const connection of this.#connections.values()) {
      if (connection.isEnding || addressGroup(connection.address) !== crowded) continue
      if (ended === undefined || connection.session.isActive <= ended.session.isActive) ended = connection
    }
    if (ended !== undefined) this.#end(ended, 'place for a miner of another address')
  }

  #portOf(socket: Socket, address: string, id: string, prefix: Uint8Array): StratumPort {
    const { clock, service, pool, params, logger, metrics } = this.#options
    const extraNonce = concatBytes(this.#options.extraNonce, Uint8Array.of(STRATUM_MARK), prefix)
    return {
      nowMs: () => clock.nowMs(),
      send: message => this.#send(socket, message),
      fault: (weight, reason) => {
        if (!socket.writable || !this.#admission.fault(address, id, weight, clock.nowMs())) return
        metrics?.bans.inc()
        logger.warn({ address, reason }, 'miner disconnected for its faults')
        this.#close(socket)
      },
      nextJob: (before, coinbase) => service.nextJob(before, coinbase, extraNonce),
      isAnchored: template => pool.isAnchored(template),
      oldestAnchor: () => anchorsFor(params, pool.head.number + 1).oldest,
      mixHash: (sealHash, nonce) => this.#mixHash(id, sealHash, nonce),
      record: (worker, outcome, hashes) => {
        this.accounts.add(worker, outcome, hashes, clock.nowMs())
        metrics?.shares.inc({ outcome })
      },
      solved: (job, nonce, mixHash, worker) =>
        this.#submit(job, nonce, mixHash, worker).then(
          isTaken => {
            if (isTaken) metrics?.solutions.inc()
          },
          error => logger.error({ err: error, worker }, 'solution of a miner failed'),
        ),
      joined: worker => logger.info({ address, worker }, 'worker joined'),
    }
  }

  /** Resolves to undefined when too many shares wait. */
  async #mixHash(connection: string, sealHash: Hex, nonce: Uint8Array): Promise<Uint8Array | undefined> {
    const { clock, verifier, logger } = this.#options
    if (!this.#hashRate.take(clock.nowMs())) return undefined
    const release = await this.#hashing.acquire(connection).catch(() => undefined)
    if (release === undefined) return undefined
    this.#argon2Count++
    try {
      return await verifier.mixHash(sealHash, nonce)
    } catch (error) {
      logger.error({ err: error }, 'share not verified')
      return undefined
    } finally {
      release()
    }
  }

  /** Submits the first solution on a tip: others that arrive before its job is over would be siblings. Returns true when it was taken. */
  async #submit(job: StratumJob, nonce: Uint8Array, mixHash: Uint8Array, worker: string): Promise<boolean> {
    const { service, pool, verifier } = this.#options
    const { sealHash, template } = job
    const { parentId } = template
    const { head } = pool
    if (parentId === this.#lastSolved?.parentId && head === this.#lastSolved.head) return false
    this.#lastSolved = { parentId, head }
    if (template.version === 2) verifier.keep(sealHash, nonce, mixHash)
    if (await service.submit(template, nonce, mixHash, worker)) return true
    this.#lastSolved = undefined
    return false
  }

  #send(socket: Socket, message: object): void {
    if (!socket.writable) return
    socket.write(`${JSON.stringify(message)}\n`)
    // A miner that does not read what it causes to be sent.
    if (socket.writableLength > STRATUM_LIMITS.backlogBytes) socket.destroy()
  }

  #end(connection: MinerConnection, reason: string): void {
    const { socket, address } = connection
    connection.isEnding = true
    this.#options.logger.info({ address, reason }, 'miner disconnected')
    this.#close(socket)
  }

  /** Sends what is written, so that the miner may log the reason, and closes; a miner that does not read has a second for it. */
  #close(socket: Socket): void {
    const { clock } = this.#options
    socket.destroySoon()
    const cancel = clock.schedule(clock.nowMs() + CLOSE_MS, () => socket.destroy())
    socket.once('close', cancel)
  }

  #review(): void {
    const { clock, logger } = this.#options
    const nowMs = clock.nowMs()
    for (const connection of this.#connections.values()) {
      const { session, sinceMs, lastLineMs } = connection
      if (!session.isLoggedIn && nowMs - sinceMs > STRATUM_LIMITS.loginMs) this.#end(connection, 'no login')
      else if (nowMs - lastLineMs > STRATUM_LIMITS.idleMs) this.#end(connection, 'idle')
      else session.review()
    }
    if (nowMs >= this.#reportMs) {
      this.#reportMs = nowMs + STRATUM_LIMITS.reportMs
      const { connections } = this
      const hashrate = Math.round(this.hashrate())
      if (connections > 0)
        logger.info({ connections, workers: this.active(), hashrate, ...this.accounts.total }, 'stratum')
    }
    this.#cancelReview = clock.schedule(nowMs + REVIEW_MS, () => this.#review())
  }
}
