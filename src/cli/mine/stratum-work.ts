import { connect, type Socket } from 'node:net'
import { bytesToHex, EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { PROOF_SEEDS } from '../../crypto/proof-hash.ts'
import type { MinerWork, WorkSource } from '../../powchain/mining/miner.ts'

interface StratumWorkOptions {
  readonly host: string
  readonly port: number
  /** ADDRESS.WORKER. */
  readonly user: string
  readonly clock: Clock
  /** The job has changed. */
  readonly onJob: () => void
  /** Called with what the person at the terminal should know. */
  readonly onNews: (text: string) => void
}

/** First wait before a new connection, doubled each time up to the longest. */
const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
/** Silence after which a server counts as gone: new jobs come every ten seconds. */
const SILENT_MS = 3 * 60_000
const LINE_BYTES = 16 * 1024
const [SEED_1, SEED_2] = PROOF_SEEDS.map(seed => bytesToHex(seed).slice(2))
/** Expected hashes at difficulty 1. */
const DIFFICULTY_1_TARGET = 0xffffn << 208n

const SUBSCRIBE_ID = 1
const AUTHORIZE_ID = 2
/** Error of a share whose job is over. */
const STALE = 21

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

interface PoolJob extends MinerWork {
  readonly id: string
}

/** Work of a Stratum server (EthereumStratum/1.0.0); connects again when the connection is lost. */
export class StratumWork implements WorkSource {
  /** Submitted solutions. */
  readonly counts = { accepted: 0, refused: 0 }
  readonly #options: StratumWorkOptions
  readonly #submits = new Map<number, (isAccepted: boolean) => void>()
  /** Ids of jobs by seal hash: a share belongs to the newest job of its seal hash. */
  readonly #ids = new Map<Hex, string>()
  #socket: Socket | undefined
  #prefix: Uint8Array = EMPTY_BYTES
  #target = 0n
  #job: PoolJob | undefined
  #nextId = AUTHORIZE_ID + 1
  #retryMs = RETRY_MS
  #cancelRetry: () => void = () => {}
  #isStopped = false
  #lastError = ''

  constructor(options: StratumWorkOptions) {
    this.#options = options
  }

  job(): MinerWork | undefined {
    return this.#job
  }

  start(): void {
    const { host, port } = this.#options
    const socket = connect({ host, port, noDelay: true, keepAlive: true })
    this.#socket = socket
    let rest = ''
    socket.setEncoding('utf8')
    socket.setTimeout(SILENT_MS, () => socket.destroy(new Error('no message for three minutes')))
    socket.once('connect', () => {
      this.#send({ id: SUBSCRIBE_ID, method: 'mining.subscribe', params: ['tandem', 'EthereumStratum/1.0.0'] })
    })
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > LINE_BYTES) socket.destroy(new Error('a line that is too long'))
      for (const line of lines) if (!socket.destroyed && line.trim() !== '') this.#receive(line)
    })
    let reason = ''
    socket.on('error', error => {
      reason = error.message
    })
    socket.once('close', () => this.#lost(reason || this.#lastError || 'closed by the server'))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelRetry()
    this.#socket?.destroy()
  }

  submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): Promise<boolean> {
    const job = this.#ids.get(sealHash)
    // Found while the job ended.
    if (job === undefined || this.#socket?.writable !== true) return Promise.resolve(false)
    const id = this.#nextId++
    const rest = nonce.slice(2 + 2 * this.#prefix.byteLength)
    const mix = mixHash === ZERO_HASH ? [] : [mixHash.slice(2)]
    this.#send({ id, method: 'mining.submit', params: [this.#options.user, job, rest, ...mix] })
    return new Promise(resolve => {
      this.#submits.set(id, resolve)
    })
  }

  #send(message: object): void {
    this.#socket?.write(`${JSON.stringify(message)}\n`)
  }

  #lost(reason: string): void {
    this.#socket = undefined
    this.#setJob(undefined)
    this.#ids.clear()
    for (const resolve of this.#submits.values()) {
      this.counts.refused++
      resolve(false)
    }
    this.#submits.clear()
    if (this.#isStopped) return
    const { clock, host, port, onNews } = this.#options
    onNews(`${host}:${port}: ${reason}; next try in ${this.#retryMs / 1_000} s`)
    this.#cancelRetry = clock.schedule(clock.nowMs() + this.#retryMs, () => this.start())
    this.#retryMs = Math.min(LONGEST_RETRY_MS, 2 * this.#retryMs)
  }

  #receive(line: string): void {
    let message: Message
    try {
      message = JSON.parse(line) as Message
    } catch {
      this.#fail('a response that is no JSON')
      return
    }
    const params = Array.isArray(message.params) ? (message.params as readonly unknown[]) : []
    switch (message.method) {
      case undefined:
        this.#answered(message)
        break
      case 'mining.notify':
        this.#notified(params)
        break
      case 'mining.set_target':
        if (isHash(params[0])) this.#target = BigInt(`0x${params[0]}`)
        break
      case 'mining.set_difficulty':
        // The exact target follows where the server knows it.
        if (typeof params[0] === 'number' && params[0] > 0) this.#target = targetOfDifficulty(params[0])
        break
      case 'mining.set_extranonce':
        this.#setPrefix(params[0])
        break
      default:
    }
  }

  #answered({ id, result, error }: Message): void {
    const problem = Array.isArray(error) ? String(error[1]) : undefined
    if (id === SUBSCRIBE_ID) {
      if (problem !== undefined || !Array.isArray(result) || !this.#setPrefix(result[1]))
        this.#fail(problem ?? 'the server speaks another dialect than EthereumStratum/1.0.0')
      else this.#send({ id: AUTHORIZE_ID, method: 'mining.authorize', params: [this.#options.user, 'x'] })
    } else if (id === AUTHORIZE_ID) {
      if (result !== true) this.#fail(problem ?? 'not authorized')
      else {
        this.#retryMs = RETRY_MS
        this.#options.onNews(`connected to ${this.#options.host}:${this.#options.port}`)
      }
    } else if (typeof id === 'number') {
      const resolve = this.#submits.get(id)
      if (resolve === undefined) return
      this.#submits.delete(id)
      if (result === true) this.counts.accepted++
      else this.counts.refused++
      // The tip has a successor, whose job comes with the next block: the rest of this one is worth nothing.
      if (Array.isArray(error) && error[0] === STALE) this.#setJob(undefined)
      resolve(result === true)
    }
  }

  #notified([id, seed, sealHash, clean]: readonly unknown[]): void {
    if (typeof id !== 'string' || !isHash(seed) || !isHash(sealHash)) {
      this.#fail('a job that cannot be read')
      return
    }
    if (seed !== SEED_1 && seed !== SEED_2) {
      this.#fail('the server wants a hash function that this program does not know: upgrade it')
      return
    }
    if (clean === true || this.#ids.size >= JOBS) this.#ids.clear()
    this.#ids.set(`0x${sealHash}`, id)
    const version = seed === SEED_2 ? 2 : 1
    const work = { sealHash: `0x${sealHash}`, version, target: this.#target, noncePrefix: this.#prefix } as const
    this.#setJob({ ...work, id, isPooled: true })
  }

  #setPrefix(value: unknown): boolean {
    if (typeof value !== 'string' || !/^(?:[0-9a-f]{2}){0,3}$/.test(value)) return false
    this.#prefix = new Uint8Array(Buffer.from(value, 'hex'))
    return true
  }

  #setJob(job: PoolJob | undefined): void {
    this.#job = job
    this.#options.onJob()
  }

  #fail(reason: string): void {
    this.#lastError = reason
    this.#socket?.destroy(new Error(reason))
  }
}

/** Seal hashes whose shares are still sent. */
const JOBS = 16

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)

const PRECISION = 2 ** 40

const targetOfDifficulty = (difficulty: number): bigint => {
  // As a quotient of integers: difficulties of the second hash function are far below 1.
  const scaled = BigInt(Math.max(1, Math.round(difficulty * PRECISION)))
  const target = (DIFFICULTY_1_TARGET * BigInt(PRECISION)) / scaled
  return target < 2n ** 256n ? target : 2n ** 256n - 1n
}
