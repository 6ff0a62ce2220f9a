import type { MessagePort, Transferable } from 'node:worker_threads'
import { assert } from '../assert.ts'
import { Batcher } from '../async/batcher.ts'
import { CodedError, isCoded } from '../errors.ts'

/*
 * Messages between a thread and its workers (docs/decisions.md#0026-worker-protocol). Byte
 * arrays in them own their memory, since posting a view copies all memory behind it.
 */

/** Methods of a worker by name: arguments and results. None has optional arguments. */
export type WorkerMethods = Readonly<Record<string, (...args: never[]) => unknown>>

export type MethodArgs<M extends WorkerMethods, Name extends keyof M> = Parameters<M[Name]>
export type MethodResult<M extends WorkerMethods, Name extends keyof M> = Awaited<ReturnType<M[Name]>>

/** Failure as it crosses: the detail of a CodedError, or the text of an unexpected error. */
type Failure = { readonly error: { readonly code: string } } | { readonly fault: string }
type Outcome = { readonly value: unknown } | Failure

export interface WorkerCall {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

/** Message to a worker: a call, or news about one. */
export type ToWorker = WorkerCall | { readonly id: number; readonly news: 'cancelled' | 'credit' }

/** Message from a worker: the outcome of a call, or a chunk of one. */
export type FromWorker = { readonly id: number } & (Outcome | { readonly chunk: unknown })

/** `workerData` of every worker. */
export interface WorkerStartData {
  /** Data of the worker's own script. */
  readonly data: unknown
  /** Int32Array, see BEATS, RUNNING, THREAD and LOADED. */
  readonly shared: SharedArrayBuffer
  /** Interval of the heartbeat; undefined: none. */
  readonly beatMs: number | undefined
  /** Port whose calls precede the others. */
  readonly urgent: MessagePort | undefined
}

/**
 * Indexes in the shared memory: a counter that grows while the worker is alive, the id of the call it executes, that of its thread, and
 * 1 once its script has loaded or its thread has ended.
 */
export const BEATS = 0
export const RUNNING = 1
export const THREAD = 2
export const LOADED = 3
export const SHARED_BYTES = 16

/** Unexpected error of a worker's method. The message is the error's stack. */
export class WorkerFault extends Error {
  override readonly name = 'WorkerFault'
}

/** Unexpected end of a worker. The cause is the error that ended it, if there was one. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
  /** Duration of the silence for which the worker was terminated. */
  readonly silentMs: number | undefined

  constructor(message: string, options: { readonly cause?: Error | undefined; readonly silentMs?: number } = {}) {
    super(options.cause?.message ?? message, { cause: options.cause })
    this.silentMs = options.silentMs
  }
}

/** Errors of the client's side, thrown as CodedError. */
export type WorkerError =
  | { readonly code: 'WORKER_CLOSED'; readonly worker: string }
  | { readonly code: 'WORKER_QUEUE_FULL' | 'WORKER_CLIENT_FULL'; readonly worker: string; readonly limit: number }

export const closedError = (worker: string): CodedError<WorkerError> =>
  new CodedError<WorkerError>({ code: 'WORKER_CLOSED', worker })

const textOfError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

export const failureFromError = (error: unknown): Failure =>
  isCoded(error) ? { error: error.detail } : { fault: textOfError(error) }

export const errorFromFailure = (failure: Failure): Error =>
  'error' in failure ? new CodedError(failure.error) : new WorkerFault(failure.fault)

/** Memory or a port that moves to another thread. */
export type Movable = Uint8Array | ArrayBuffer | MessagePort

/** Returns the memory of bytes for a transfer. Views are refused: their transfer takes the memory of others as well. */
export const ownMemory = (bytes: Movable): ArrayBuffer | MessagePort => {
  if (!(bytes instanceof Uint8Array)) return bytes
  assert(bytes.byteLength === bytes.buffer.byteLength, 'only bytes with memory of their own are transferred')
  return bytes.buffer as ArrayBuffer
}

/** One message, or several of one turn. A list around a single one costs 5 us a round trip. */
export type Posted<T> = T | readonly T[]

export const messagesOf = <T extends object>(posted: Posted<T>): readonly T[] =>
  Array.isArray(posted) ? posted : [posted as T]

interface Port<T> {
  postMessage(posted: Posted<T>, transfer?: readonly Transferable[]): void
}

/** Sends messages, those of one turn of the event loop together. A message that cannot be serialized is reported and skipped. */
export class MessageSender<T> {
  readonly #port: Port<T>
  readonly #unsent: (message: T, error: unknown) => void
  readonly #batcher: Batcher<T> | undefined

  /** `batch`: messages at most per post; 1 sends each at once. */
  constructor(port: Port<T>, batch: number, unsent: (message: T, error: unknown) => void) {
    this.#port = port
    this.#unsent = unsent
    this.#batcher = batch > 1 ? new Batcher<T>(batch, messages => this.#post(messages)) : undefined
  }

  send(message: T): void {
    if (this.#batcher === undefined) this.#post([message])
    else this.#batcher.add(message)
  }

  /** Sends a message and moves the memory to the other thread. */
  transfer(message: T, memory: readonly Transferable[]): void {
    this.#batcher?.flush()
    this.#post([message], memory)
  }

  #post(messages: readonly T[], memory?: readonly Transferable[]): void {
    try {
      this.#port.postMessage(messages.length === 1 ? (messages[0] as T) : messages, memory)
    } catch (error) {
      const [only] = messages
      if (messages.length === 1 && only !== undefined) this.#unsent(only, error)
      else for (const message of messages) this.#post([message])
    }
  }
}
