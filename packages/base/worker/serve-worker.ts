import { type MessagePort, parentPort, receiveMessageOnPort, type Transferable, workerData } from 'node:worker_threads'
import { assert } from '../assert.ts'
import { isCoded } from '../errors.ts'
import type { EndRequest } from './end-worker.ts'
import {
  BEATS,
  type FromWorker,
  failureFromError,
  LOADED,
  MessageSender,
  messagesOf,
  ownMemory,
  type Posted,
  RUNNING,
  THREAD,
  type ToWorker,
  type WorkerCall,
  type WorkerMethods,
  type WorkerStartData,
} from './protocol.ts'
import { systemThreadId } from './thread-time.ts'

/** Result whose memory moves to the caller. */
export class Transferred<T> {
  readonly value: T
  readonly memory: readonly Transferable[]

  constructor(value: T, memory: readonly (Uint8Array | ArrayBuffer)[]) {
    this.value = value
    this.memory = memory.map(ownMemory)
  }
}

/** Call that a method serves; passed to it after the arguments. */
export interface ServedCall {
  readonly id: number
  /** True when the result is not needed; the method should end soon, with any outcome. */
  readonly isCancelled: boolean
  /** Sets the listener of a cancellation; called at once when it has come. */
  onCancel(listener: () => void): void
  /** Sets the listener of the reader's progress, called for every chunk taken. */
  onCredit(listener: () => void): void
  /** Sends a chunk; its memory moves to the caller. */
  sendChunk(chunk: Uint8Array): void
  /** Marks the call as the one being executed, and the worker as alive. */
  beat(): void
}

/** Implementation of methods: each gets its arguments and then the call. */
type ServedMethods<M extends WorkerMethods> = {
  readonly [Name in keyof M]: (
    ...args: [...Parameters<M[Name]>, ServedCall]
  ) =>
    | ReturnType<M[Name]>
    | Awaited<ReturnType<M[Name]>>
    | Transferred<Awaited<ReturnType<M[Name]>>>
    | Promise<Awaited<ReturnType<M[Name]>> | Transferred<Awaited<ReturnType<M[Name]>>>>
}

export interface ServeOptions {
  /** One after the other, or each begins when it arrives, in an iteration of the event loop of its own. Serial by default. */
  readonly order?: 'serial' | 'parallel'
  /** An unexpected error is answered, or ends the worker, whose data may be damaged. Answered by default. */
  readonly faults?: 'answered' | 'fatal'
  /** Outcomes at most per message; those of one turn of the event loop go together. 1 by default. */
  readonly batch?: number
}

type Method = (...args: readonly unknown[]) => unknown
type News = Extract<ToWorker, { readonly news: string }>

/** Returns the start parameters of this worker. */
export const workerStartData = <Data>(): Data => (workerData as WorkerStartData).data as Data

let server: WorkerServer | undefined

/** Serves the methods; called once by the worker's script. */
export const serveWorker = <M extends WorkerMethods>(methods: ServedMethods<M>, options: ServeOptions = {}): void => {
  assert(parentPort !== null, 'methods are served in a worker')
  assert(server === undefined, 'a worker serves once')
  server = new WorkerServer(
    parentPort,
    workerData as WorkerStartData,
    methods as Readonly<Record<string, Method>>,
    options,
  )
}

class ActiveCall implements ServedCall {
  readonly id: number
  isCancelled = false
  cancelled: (() => void) | undefined
  credited: (() => void) | undefined
  readonly #server: WorkerServer

  constructor(id: number, of: WorkerServer) {
    this.id = id
    this.#server = of
  }

  onCancel(listener: () => void): void {
    this.cancelled = listener
    if (this.isCancelled) listener()
  }

  onCredit(listener: () => void): void {
    this.credited = listener
  }

  sendChunk(chunk: Uint8Array): void {
    this.#server.sender.transfer({ id: this.id, chunk }, [ownMemory(chunk)])
  }

  beat(): void {
    this.#server.beat(this.id)
  }
}

class WorkerServer {
  readonly sender: MessageSender<FromWorker>
  readonly #methods: Readonly<Record<string, Method>>
  readonly #options: ServeOptions
  readonly #urgent: MessagePort | undefined
  readonly #signals: Int32Array
  /** Calls that wait or run. */
  readonly #calls = new Map<number, ActiveCall>()
  readonly #waiting: WorkerCall[] = []
  #isBusy = false

  constructor(
    port: MessagePort,
    start: WorkerStartData,
    methods: Readonly<Record<string, Method>>,
    options: ServeOptions,
  ) {
    this.#methods = methods
    this.#options = options
    this.#urgent = start.urgent
    this.#signals = new Int32Array(start.shared)
    Atomics.store(this.#signals, THREAD, systemThreadId())
    this.sender = new MessageSender<FromWorker>(port, options.batch ?? 1, (message, error) =>
      this.#unsent(message, error),
    )
    if (start.beatMs !== undefined) setInterval(() => Atomics.add(this.#signals, BEATS, 1), start.beatMs).unref()
    Atomics.add(this.#signals, BEATS, 1)
    setImmediate(() => {
      Atomics.store(this.#signals, LOADED, 1)
      Atomics.notify(this.#signals, LOADED)
    })
    const receive = (received: Posted<ToWorker> | EndRequest): void => {
      if ('end' in received) process.exit()
      Atomics.add(this.#signals, BEATS, 1)
      for (const message of messagesOf(received)) this.#receive(message)
    }
    const fail = (error: Error): void => {
      throw error
    }
    port.on('message', receive).on('messageerror', fail)
    this.#urgent?.on('message', receive).on('messageerror', fail)
  }

  beat(id: number): void {
    Atomics.store(this.#signals, RUNNING, id)
    Atomics.add(this.#signals, BEATS, 1)
  }

  #receive(message: ToWorker): void {
    if ('name' in message) this.#accept(message)
    else this.#hear(message)
  }

  #accept(call: WorkerCall): void {
    const active = new ActiveCall(call.id, this)
    this.#calls.set(call.id, active)
    if (this.#options.order === 'parallel') {
      setImmediate(() => void this.#run(call, active))
      return
    }
    this.#waiting.push(call)
    if (!this.#isBusy) void this.#runWaiting()
  }

  async #runWaiting(): Promise<void> {
    this.#isBusy = true
    for (let call = this.#next(); call !== undefined; call = this.#next()) {
      const running = this.#run(call, this.#calls.get(call.id) as ActiveCall)
      if (running !== undefined) await running
    }
    this.#isBusy = false
  }

  /** Returns the next call of the serial order, urgent ones first. */
  #next(): WorkerCall | undefined {
    // Without waiting calls, the next urgent one comes as an event.
    const urgent = this.#waiting.length > 0 && this.#urgent && receiveMessageOnPort(this.#urgent)
    if (!urgent) return this.#waiting.shift()
    const call = urgent.message as WorkerCall
    this.#calls.set(call.id, new ActiveCall(call.id, this))
    return call
  }

  /** Returns a promise only for a call that does not end at once: most are short. */
  #run({ id, name, args }: WorkerCall, active: ActiveCall): Promise<void> | undefined {
    this.beat(id)
    try {
      assert(name in this.#methods && !(name in Object.prototype), 'the method is served')
      const value = (this.#methods[name] as Method)(...args, active)
      if (value instanceof Promise)
        return value.then(
          result => this.#succeed(id, result),
          error => this.#fail(id, error),
        )
      this.#succeed(id, value)
      return undefined
    } catch (error) {
      return this.#fail(id, error)
    }
  }

  #succeed(id: number, value: unknown): void {
    this.#calls.delete(id)
    if (value instanceof Transferred) this.sender.transfer({ id, value: value.value }, value.memory)
    else this.sender.send({ id, value })
  }

  #fail(id: number, error: unknown): Promise<never> | undefined {
    if (this.#options.faults === 'fatal' && !isCoded(error)) return failWorker(error)
    this.#calls.delete(id)
    this.sender.send({ id, ...failureFromError(error) })
    return undefined
  }

  #hear({ id, news }: News): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    if (news === 'credit') call.credited?.()
    else {
      call.isCancelled = true
      call.cancelled?.()
    }
  }

  /** A result that cannot be serialized is a fault of its call. */
  #unsent({ id }: FromWorker, error: unknown): void {
    this.sender.send({ id, ...failureFromError(error) })
  }
}

/** Ends the worker by the error; no further call is executed. */
const failWorker = (error: unknown): Promise<never> => {
  queueMicrotask(() => {
    throw error
  })
  return new Promise(() => {})
}
