import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads'
import { assert } from '../assert.ts'
import { CodedError, isCoded } from '../errors.ts'

/** Error of calls to a closed thread, thrown as CodedError. */
type WorkerThreadError = { readonly code: 'THREAD_CLOSED'; readonly thread: string }

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>

interface Call {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}
type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly code: string } }
  | { readonly id: number; readonly fault: string }

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/** Worker thread whose script calls `serveWorker`; its methods run one after the other. It does not keep the process alive. */
export class WorkerThread<M extends Methods> {
  readonly #name: string
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #nextId = 1
  #end: Error | undefined

  constructor(name: string, script: URL, options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>) {
    this.#name = name
    this.#worker = new Worker(script, { name, ...options })
    this.#worker.unref()
    this.#worker.on('message', (answer: Answer) => this.#answer(answer))
    this.#worker.on('error', error => this.#ended(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#ended(new Error(`the thread ${name} ended`)))
  }

  /**
   * Rejects with the CodedError the method threw, THREAD_CLOSED after `close`, or the error that ended the thread. Arguments are copied.
   */
  call<Name extends keyof M & string>(name: Name, ...args: Parameters<M[Name]>): Promise<Awaited<ReturnType<M[Name]>>> {
    if (this.#end !== undefined) return Promise.reject(this.#end)
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, name, args } satisfies Call)
    })
  }

  /** Calls under way are not finished. */
  async close(): Promise<void> {
    this.#ended(new CodedError<WorkerThreadError>({ code: 'THREAD_CLOSED', thread: this.#name }))
    await this.#worker.terminate()
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('value' in answer) waiting?.resolve(answer.value as never)
    else waiting?.reject('error' in answer ? new CodedError(answer.error) : new Error(answer.fault))
  }

  #ended(reason: Error): void {
    this.#end ??= reason
    for (const { reject } of this.#waiting.values()) reject(this.#end)
    this.#waiting.clear()
  }
}

/** Serves the methods; called once by the thread's script. Calls are answered in order. */
export const serveWorker = (methods: Methods): void => {
  assert(parentPort !== null, 'a thread is served in a worker')
  const port = parentPort
  let last: Promise<void> = Promise.resolve()
  const answer = async ({ id, name, args }: Call): Promise<Answer> => {
    try {
      return { id, value: await (methods[name] as (...args: readonly unknown[]) => unknown)(...args) }
    } catch (error) {
      if (isCoded(error)) return { id, error: error.detail }
      return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }
  port.on('message', (call: Call) => {
    last = last.then(() => answer(call)).then(message => port.postMessage(message))
  })
}
