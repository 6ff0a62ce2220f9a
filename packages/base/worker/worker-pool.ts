import { type Cancellation, Cancelled } from '../async/cancellation.ts'
import type { ChunkStream } from '../async/chunk-stream.ts'
import { FairQueue } from '../async/fair-queue.ts'
import { CodedError } from '../errors.ts'
import {
  closedError,
  type MethodArgs,
  type MethodResult,
  type Movable,
  WorkerEnded,
  type WorkerError,
  type WorkerMethods,
} from './protocol.ts'
import { type CallListener, WorkerClient, type WorkerClientOptions } from './worker-client.ts'
import { WorkerStream } from './worker-stream.ts'

export interface WorkerPoolOptions extends WorkerClientOptions {
  /** Number of workers, 1 by default; each is started when the others are busy, and replaced when it ends or hangs. */
  readonly size?: number
  /** Calls at most that share a worker; further ones wait. Unlimited by default. */
  readonly inFlight?: number
  /** Calls at most of one client that run. Unlimited by default. */
  readonly clientInFlight?: number
  /** Waiting calls at most; a further one, or the last of the client with most, is refused with WORKER_QUEUE_FULL. Unlimited by default. */
  readonly queue?: number
  /** Waiting calls at most of one client; further ones are refused with WORKER_CLIENT_FULL. Unlimited by default. */
  readonly clientQueue?: number
  /** Times that a call is sent again after its worker ended. 0 by default. */
  readonly retries?: number
  /** true: the call that the worker executed at its end is not sent again, since it may have been the cause. */
  readonly dropsRunning?: boolean
  /** Idle time after which a worker is stopped. Never by default. */
  readonly idleMs?: number
  /** Runs the monitoring at an interval; returns the function that stops it. setInterval by default. */
  readonly every?: (ms: number, run: () => void) => () => void
}

/** Call of a pool. */
interface PoolCall<M extends WorkerMethods, Name extends keyof M & string> {
  readonly name: Name
  /** Makes the arguments for a worker, anew for each attempt, since memory that was transferred is gone. */
  readonly args: (worker: object) => MethodArgs<M, Name>
  /** Memory and ports of the arguments that move to the worker. */
  readonly transfer?: (args: MethodArgs<M, Name>) => readonly Movable[]
  readonly isUrgent?: boolean
  /** Share of the worker's load, 1 by default. */
  readonly weight?: number
  readonly cancellation?: Cancellation | undefined
  /** Client that asks; clients are served in rotation. */
  readonly client?: string
}

/** Number of looks per monitored duration. */
const LOOKS = 10

/** Workers of the same kind, started when needed. Each call goes to the one with the least load. */
export class WorkerPool<M extends WorkerMethods> {
  readonly #options: WorkerPoolOptions
  readonly #members = new Set<Member<M>>()
  readonly #waiting: FairQueue<Job<M>>
  /** Running calls by client, where they are limited. */
  readonly #running = new Map<string, number>()
  #stopMonitor: (() => void) | undefined
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    const { queue, clientQueue } = options
    const limits = {
      ...(queue !== undefined && { total: queue }),
      ...(clientQueue !== undefined && { owner: clientQueue }),
    }
    this.#waiting = new FairQueue({ ...limits, displaces: true })
  }

  /** Starts workers now, all of them by default, rather than with the first calls. */
  start(count = this.#options.size ?? 1): void {
    while (!this.#isClosed && this.#members.size < count && this.#canAdd()) this.#add()
  }

  /** Number of calls that wait or run. */
  get size(): number {
    let size = this.#waiting.size
    for (const { worker } of this.#members) size += worker.size
    return size
  }

  call<Name extends keyof M & string>(name: Name, ...args: MethodArgs<M, Name>): Promise<MethodResult<M, Name>> {
    return this.run({ name, args: () => args })
  }

  /** Rejects like WorkerClient.call, with a WorkerError when the queue is full, and with Cancelled as soon as the call is cancelled. */
  run<Name extends keyof M & string>(call: PoolCall<M, Name>): Promise<MethodResult<M, Name>> {
    const { job, result } = createJob(call)
    this.#enqueue(job)
    const { cancellation } = call
    if (cancellation === undefined) return result
    const forget = cancellation.onCancel(() => this.#cancel(job))
    return result.finally(forget)
  }

  /** Returns the chunks of a call, which starts at the first read. `asError` translates its failures. */
  stream<Name extends keyof M & string, T>(call: PoolCall<M, Name>, asError: (error: Error) => Error): ChunkStream<T> {
    const { job, result } = createJob(call, chunk => stream.push(chunk as T))
    const stream = new WorkerStream<T>({
      start: () => {
        result.then(
          () => stream.end(),
          (error: Error) => (error instanceof WorkerEnded ? stream.cut(asError(error)) : stream.end(asError(error))),
        )
        this.#enqueue(job)
      },
      credit: () => job.sent?.member.worker.credit(job.sent.id),
      cancel: () => this.#cancel(job),
    })
    return stream
  }

  /** Calls a method of every worker that runs; outcomes are dropped. */
  callEach<Name extends keyof M & string>(name: Name, ...args: MethodArgs<M, Name>): void {
    for (const { worker } of this.#members) worker.call(name, ...args).catch(() => {})
  }

  /** Calls that wait or run are rejected with WORKER_CLOSED. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopMonitor?.()
    const members = [...this.#members]
    this.#members.clear()
    for (const job of this.#waiting.takeAll()) job.reject(closedError(this.#options.name))
    await Promise.all(members.map(({ worker }) => worker.close()))
  }

  #enqueue(job: Job<M>): void {
    const { name } = this.#options
    if (this.#isClosed) {
      job.reject(closedError(name))
      return
    }
    const member = this.#waiting.isEmpty && this.#mayRun(job.client) ? this.#free() : undefined
    if (member !== undefined) {
      this.#send(member, job)
      return
    }
    const refused = this.#waiting.push(job.client, job)
    if (refused !== undefined) refused.item.reject(this.#fullError(refused.full))
    this.#dispatch()
  }

  #fullError(full: 'owner' | 'total'): CodedError<WorkerError> {
    const { name, queue = 0, clientQueue = 0 } = this.#options
    return full === 'owner'
      ? new CodedError({ code: 'WORKER_CLIENT_FULL', worker: name, limit: clientQueue })
      : new CodedError({ code: 'WORKER_QUEUE_FULL', worker: name, limit: queue })
  }

  #dispatch(): void {
    while (!this.#waiting.isEmpty && !this.#isClosed) {
      const member = this.#free()
      const next = member && this.#waiting.shift(client => this.#mayRun(client))
      if (next === undefined) return
      this.#send(member as Member<M>, next.item)
    }
  }

  #mayRun(client: string): boolean {
    const { clientInFlight } = this.#options
    return clientInFlight === undefined || (this.#running.get(client) ?? 0) < clientInFlight
  }

  #countRunning(client: string, change: 1 | -1): void {
    if (this.#options.clientInFlight === undefined) return
    const running = (this.#running.get(client) ?? 0) + change
    if (running === 0) this.#running.delete(client)
    else this.#running.set(client, running)
  }

  /** Returns the member with the least load that has room, a new one rather than a busy one. */
  #free(): Member<M> | undefined {
    const { inFlight = Number.POSITIVE_INFINITY } = this.#options
    let best: Member<M> | undefined
    for (const member of this.#members) {
      if (!member.worker.isOpen || member.worker.size >= inFlight) continue
      if (best === undefined || member.load < best.load) best = member
    }
    return best?.load === 0 || !this.#canAdd() ? best : this.#add()
  }

  #canAdd(): boolean {
    let open = 0
    for (const { worker } of this.#members) if (worker.isOpen) open++
    return open < (this.#options.size ?? 1)
  }

  #add(): Member<M> {
    const onEnd = (error: WorkerEnded, calls: number): void => {
      this.#members.delete(member)
      this.#options.onEnd?.(error, calls)
      this.#dispatch()
    }
    const member: Member<M> = { worker: new WorkerClient<M>({ ...this.#options, onEnd }), load: 0 }
    this.#members.add(member)
    this.#startMonitor()
    return member
  }

  #send(member: Member<M>, job: Job<M>): void {
    job.attempts++
    const { onChunk } = job
    const listener = {
      resolve: (value: unknown) => {
        this.#release(member, job)
        job.resolve(value)
      },
      reject: (error: Error) => this.#failed(member, job, error),
      ...(onChunk && { onChunk }),
    }
    try {
      member.load += job.weight
      this.#countRunning(job.client, 1)
      job.sent = { member, id: job.post(member.worker, listener) }
    } catch (error) {
      this.#failed(member, job, error)
    }
  }

  #failed(member: Member<M>, job: Job<M>, error: unknown): void {
    const { retries = 0, dropsRunning = false } = this.#options
    if (dropsRunning && member.worker.running === job.sent?.id) job.mayRepeat = false
    this.#release(member, job)
    if (error instanceof WorkerEnded && job.attempts <= retries && job.mayRepeat) this.#enqueue(job)
    else job.reject(error)
  }

  #release(member: Member<M>, job: Job<M>): void {
    member.load -= job.weight
    this.#countRunning(job.client, -1)
    job.sent = undefined
    this.#dispatch()
  }

  /** A running call keeps its place until the worker has ended it. */
  #cancel(job: Job<M>): void {
    job.mayRepeat = false
    if (!this.#waiting.remove(job.client, job)) job.sent?.member.worker.cancel(job.sent.id)
    job.reject(new Cancelled())
  }

  #startMonitor(): void {
    const { heartbeat, idleMs, every = everyInterval } = this.#options
    const shortestMs = Math.min(heartbeat?.stuckMs ?? Number.POSITIVE_INFINITY, idleMs ?? Number.POSITIVE_INFINITY)
    if (this.#stopMonitor === undefined && Number.isFinite(shortestMs))
      this.#stopMonitor = every(shortestMs / LOOKS, () => this.#look())
  }

  /** Replaces workers that hang, and stops those without work. */
  #look(): void {
    const { name, idleMs = Number.POSITIVE_INFINITY, onEnd } = this.#options
    for (const member of this.#members) {
      const { worker } = member
      const silentMs = worker.longSilenceMs()
      if (silentMs !== undefined) {
        const reason = new WorkerEnded(`the worker ${name} did not answer for ${silentMs} ms`, { silentMs })
        onEnd?.(reason, worker.size)
        this.#drop(member, reason)
      } else if (worker.idleMs > idleMs) this.#drop(member, closedError(name))
    }
    this.#dispatch()
    if (this.#members.size > 0) return
    this.#stopMonitor?.()
    this.#stopMonitor = undefined
  }

  #drop(member: Member<M>, reason: Error): void {
    this.#members.delete(member)
    member.worker.close(reason).catch(() => {})
  }
}

interface Member<M extends WorkerMethods> {
  readonly worker: WorkerClient<M>
  /** Sum of the weights of its calls. */
  load: number
}

interface Job<M extends WorkerMethods> {
  readonly post: (worker: WorkerClient<M>, listener: CallListener) => number
  readonly onChunk: ((chunk: never) => void) | undefined
  readonly weight: number
  readonly client: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  attempts: number
  mayRepeat: boolean
  /** Member that executes it, and its id there. */
  sent: { readonly member: Member<M>; readonly id: number } | undefined
}

const createJob = <M extends WorkerMethods, Name extends keyof M & string>(
  { name, args, transfer, isUrgent = false, weight = 1, client = '' }: PoolCall<M, Name>,
  onChunk?: (chunk: never) => void,
): { readonly job: Job<M>; readonly result: Promise<MethodResult<M, Name>> } => {
  const { promise, resolve, reject } = Promise.withResolvers<MethodResult<M, Name>>()
  const job: Job<M> = {
    post(worker, listener) {
      const given = args(worker)
      const memory = transfer?.(given)
      return worker.post(name, given, listener, memory === undefined ? { isUrgent } : { isUrgent, transfer: memory })
    },
    onChunk,
    weight,
    client,
    resolve: resolve as (value: unknown) => void,
    reject,
    attempts: 0,
    mayRepeat: onChunk === undefined,
    sent: undefined,
  }
  return { job, result: promise }
}

const everyInterval = (ms: number, run: () => void): (() => void) => {
  const timer = setInterval(run, ms).unref()
  return () => clearInterval(timer)
}
