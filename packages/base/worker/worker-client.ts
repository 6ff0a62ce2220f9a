import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  type Transferable,
  type Worker,
} from 'node:worker_threads'
import { copyBytes } from '../bytes.ts'
import { startThread } from '../own-files.ts'
import { endWorker } from './end-worker.ts'
import { addLoadingThread, LOAD_MS } from './loading-threads.ts'
import {
  BEATS,
  closedError,
  errorFromFailure,
  type FromWorker,
  LOADED,
  MessageSender,
  type MethodArgs,
  type MethodResult,
  type Movable,
  messagesOf,
  ownMemory,
  type Posted,
  RUNNING,
  SHARED_BYTES,
  THREAD,
  type ToWorker,
  WorkerEnded,
  type WorkerMethods,
  type WorkerStartData,
} from './protocol.ts'
import { Silence, type SilenceLimits } from './silence.ts'
import { threadTimeMs } from './thread-time.ts'

export interface WorkerClientOptions {
  /** Name of the thread. */
  readonly name: string
  /** Script that calls `serveWorker`. */
  readonly url: URL
  /** Start parameters, read by `workerStartData`; or makes them at each start. */
  readonly data?: unknown
  readonly limits?: ResourceLimits
  /** Set for a script that opens the store: it ends in a turn of its own (end-worker.ts), others are terminated. */
  readonly hasStore?: boolean
  /** Calls at most per message; those of one turn of the event loop go together. 1 by default. */
  readonly batch?: number
  /** Opens a port of its own for urgent calls. */
  readonly hasUrgent?: boolean
  /** Interval at which the worker shows that it is alive, and the silence after which it counts as hanging (silence.ts). */
  readonly heartbeat?: SilenceLimits & { readonly everyMs: number }
  /** Called once for a worker that ends without `close`, with the number of its pending calls, before they are rejected. */
  readonly onEnd?: (error: WorkerEnded, calls: number) => void
  /** Called with the thread of each worker. */
  readonly onThread?: (worker: Worker) => void
  /** Time of the monitoring; performance.now by default. */
  readonly nowMs?: () => number
  /** Returns the processor time of a thread; that of the system by default. */
  readonly threadTimeMs?: (id: number) => number | undefined
}

interface SendOptions {
  /** Memory and ports that move to the worker; it must own them. */
  readonly transfer?: readonly Movable[]
  /** Precedes calls that are not urgent. */
  readonly isUrgent?: boolean
}

/** Receiver of a call's outcome, and of its chunks when it streams. */
export interface CallListener {
  resolve(value: never): void
  reject(error: Error): void
  onChunk?(chunk: never): void
}

/** Call that was sent, with its id for `cancel` and `credit`. */
interface SentCall<T> {
  readonly id: number
  readonly result: Promise<T>
}

/** Ids fit the 32-bit shared memory. */
const MAX_ID = 0x7fff_ffff

const ownCopy = (arg: unknown): unknown => (arg instanceof Uint8Array ? copyBytes(arg) : arg)

/**
 * One worker thread with typed calls, from its start to its end; WorkerPool starts another one. It keeps the process alive only while
 * calls are pending.
 */
export class WorkerClient<M extends WorkerMethods> {
  readonly #options: WorkerClientOptions
  readonly #worker: Worker
  readonly #urgent: MessagePort | undefined
  readonly #sender: MessageSender<ToWorker>
  readonly #signals = new Int32Array(new SharedArrayBuffer(SHARED_BYTES))
  readonly #pending = new Map<number, CallListener>()
  readonly #nowMs: () => number
  #nextId = 1
  /** Reason why no further call is accepted. */
  #end: Error | undefined
  #isClosed = false
  /** Undefined for a worker without a heartbeat. */
  readonly #silence: Silence | undefined
  #idleSinceMs: number

  constructor(options: WorkerClientOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#idleSinceMs = this.#nowMs()
    this.#silence = options.heartbeat && new Silence(this.#idleSinceMs, options.heartbeat)
    const channel = options.hasUrgent === true ? new MessageChannel() : undefined
    this.#urgent = channel?.port1
    const shared = this.#signals.buffer as SharedArrayBuffer
    const start: WorkerStartData = {
      data: typeof options.data === 'function' ? options.data() : options.data,
      shared,
      beatMs: options.heartbeat?.everyMs,
      urgent: channel?.port2,
    }
    this.#worker = startThread(options.url, {
      name: options.name,
      workerData: start,
      ...(channel && { transferList: [channel.port2] }),
      ...(options.limits && { resourceLimits: options.limits }),
    })
    this.#worker.unref()
    this.#sender = new MessageSender<ToWorker>(this.#worker, options.batch ?? 1, (message, error) => {
      this.#unsent(message, error)
    })
    this.#listen()
    options.onThread?.(this.#worker)
  }

  /** Number of pending calls. */
  get size(): number {
    return this.#pending.size
  }

  /** False once the worker has failed, ended or was closed. */
  get isOpen(): boolean {
    return this.#end === undefined
  }

  /** Id of the call that the worker executes, as far as it says. */
  get running(): number {
    return Atomics.load(this.#signals, RUNNING)
  }

  /** Time since the last call ended; 0 while calls are pending. */
  get idleMs(): number {
    return this.#pending.size > 0 ? 0 : this.#nowMs() - this.#idleSinceMs
  }

  /**
   * Rejects with the CodedError that the method threw, a WorkerFault for another error, WorkerEnded when the worker ended, WORKER_CLOSED
   * after `close`.
   */
  call<Name extends keyof M & string>(name: Name, ...args: MethodArgs<M, Name>): Promise<MethodResult<M, Name>> {
    return this.send(name, args).result
  }

  send<Name extends keyof M & string>(
    name: Name,
    args: MethodArgs<M, Name>,
    options: SendOptions = {},
  ): SentCall<MethodResult<M, Name>> {
    const { promise, resolve, reject } = Promise.withResolvers<MethodResult<M, Name>>()
    const id = this.post(name, args, { resolve: resolve as (value: never) => void, reject }, options)
    return { id, result: promise }
  }

  /** Sends a call whose outcome goes to a listener; returns its id. */
  post<Name extends keyof M & string>(
    name: Name,
    args: MethodArgs<M, Name>,
    listener: CallListener,
    { transfer, isUrgent = false }: SendOptions = {},
  ): number {
    const id = this.#nextId
    this.#nextId = id === MAX_ID ? 1 : id + 1
    if (this.#end !== undefined) {
      listener.reject(this.#end)
      return id
    }
    const memory = transfer?.map(ownMemory)
    this.#pending.set(id, listener)
    if (this.#pending.size === 1) this.#worker.ref()
    this.#post({ id, name, args: args.map(ownCopy) }, memory, isUrgent)
    return id
  }

  /** Tells the worker that a result is not needed. The call still ends with an outcome. */
  cancel(id: number): void {
    if (this.#pending.has(id)) this.#sender.send({ id, news: 'cancelled' })
  }

  /** Tells the worker that the reader has taken a chunk. */
  credit(id: number): void {
    if (this.#pending.has(id)) this.#sender.send({ id, news: 'credit' })
  }

  /**
   * Returns how long a worker that has work has been silent when that is too long, from its first heartbeat on, otherwise undefined. Must
   * be called regularly.
   */
  longSilenceMs(): number | undefined {
    if (this.#silence === undefined) return undefined
    const nowMs = this.#nowMs()
    const beats = Atomics.load(this.#signals, BEATS)
    const isIdle = beats === 0 || this.#pending.size === 0
    const timeOf = this.#options.threadTimeMs ?? threadTimeMs
    const usedMs = isIdle ? undefined : timeOf(Atomics.load(this.#signals, THREAD))
    return this.#silence.isLong({ beats, usedMs }, nowMs, isIdle) ? Math.round(this.#silence.ms(nowMs)) : undefined
  }

  /** Pending calls are rejected, with WORKER_CLOSED by default. */
  async close(reason: Error = closedError(this.#options.name)): Promise<void> {
    this.#end = reason
    this.#isClosed = true
    this.#rejectPending(reason)
    this.#urgent?.close()
    await this.#loaded()
    await (this.#options.hasStore === true ? endWorker(this.#worker) : this.#worker.terminate())
  }

  /** Resolves when the script has loaded, or after a while (loading-threads.ts). */
  async #loaded(): Promise<void> {
    if (Atomics.load(this.#signals, LOADED) !== 0) return
    const patience = setTimeout(() => this.#markLoaded(), LOAD_MS)
    await Atomics.waitAsync(this.#signals, LOADED, 0).value
    clearTimeout(patience)
  }

  #markLoaded(): void {
    Atomics.store(this.#signals, LOADED, 1)
    Atomics.notify(this.#signals, LOADED)
  }

  #listen(): void {
    const { name, onEnd } = this.#options
    const removeLoading = addLoadingThread(() => Atomics.load(this.#signals, LOADED) !== 0)
    this.#worker.on('message', (received: Posted<FromWorker>) => {
      for (const message of messagesOf(received)) this.#receive(message)
    })
    // Outcomes sent before the error may still arrive before the exit.
    const fail = (error: unknown): void => {
      const cause = error instanceof Error ? error : new Error(String(error))
      this.#end ??= new WorkerEnded(cause.message, { cause })
    }
    this.#worker.on('error', fail)
    this.#worker.on('messageerror', error => {
      fail(error)
      void this.#worker.terminate()
    })
    this.#worker.on('exit', code => {
      this.#end ??= new WorkerEnded(`the worker ${name} ended with code ${code}`)
      this.#urgent?.close()
      this.#markLoaded()
      removeLoading()
      if (!this.#isClosed) onEnd?.(this.#end as WorkerEnded, this.#pending.size)
      this.#rejectPending(this.#end)
    })
  }

  #post(call: ToWorker, memory: readonly Transferable[] | undefined, isUrgent: boolean): void {
    if (isUrgent && this.#urgent !== undefined) {
      try {
        this.#urgent.postMessage(call satisfies Posted<ToWorker>, [...(memory ?? [])])
      } catch (error) {
        this.#unsent(call, error)
      }
    } else if (memory === undefined) this.#sender.send(call)
    else this.#sender.transfer(call, memory)
  }

  /** Rejects the call of a message that cannot be serialized. */
  #unsent({ id }: ToWorker, error: unknown): void {
    this.#take(id)?.reject(error instanceof Error ? error : new Error(String(error)))
  }

  #receive(message: FromWorker): void {
    if ('chunk' in message) this.#pending.get(message.id)?.onChunk?.(message.chunk as never)
    else if ('value' in message) this.#take(message.id)?.resolve(message.value as never)
    else this.#take(message.id)?.reject(errorFromFailure(message))
  }

  #take(id: number): CallListener | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (this.#pending.size === 0) {
      this.#idleSinceMs = this.#nowMs()
      // Its end is awaited by `close`.
      if (!this.#isClosed) this.#worker.unref()
    }
    return pending
  }

  #rejectPending(reason: Error): void {
    const listeners = [...this.#pending.values()]
    this.#pending.clear()
    for (const listener of listeners) listener.reject(reason)
  }
}
