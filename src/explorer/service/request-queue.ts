import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { EXPLORER_LIMITS } from '../limits.ts'

/** Why a request has no place, as CodedError. */
export type RequestRefusal =
  /** Those of all clients wait already. */
  | { readonly code: 'EXPLORER_BUSY' }
  /** So many of this client wait already. */
  | { readonly code: 'CLIENT_BUSY'; readonly limit: number }

/** Of requests, in total and of one client. */
interface Bounds {
  readonly total: number
  readonly client: number
}

interface QueueLimits {
  readonly running: Bounds
  readonly waiting: Bounds
}

/** A request of a client. */
export interface QueuedRequest {
  readonly client: string
  start(): void
  refuse(error: CodedError<RequestRefusal>): void
}

/** Requests that are worked at, a few of each client, and those that wait for a place; clients take turns. */
export class RequestQueue {
  readonly #limits: QueueLimits
  readonly #running = new Set<QueuedRequest>()
  readonly #waiting = new FairQueue<QueuedRequest>()
  #waitingCount = 0

  constructor(limits: QueueLimits = EXPLORER_LIMITS.api) {
    this.#limits = limits
  }

  /** Starts a request, at once or in its turn, or refuses it. */
  add(request: QueuedRequest): void {
    const { client } = request
    const { waiting } = this.#limits
    if (this.#waiting.lengthOf(client) === 0 && this.#mayStart(client)) this.#start(request)
    else if (this.#waiting.lengthOf(client) >= waiting.client)
      request.refuse(new CodedError({ code: 'CLIENT_BUSY', limit: waiting.client }))
    else if (this.#waitingCount < waiting.total || this.#makeRoom(client)) {
      this.#waiting.push(client, request)
      this.#waitingCount++
    } else request.refuse(new CodedError({ code: 'EXPLORER_BUSY' }))
  }

  /** Gives up the place of a request that is answered, or that nobody waits for any more. */
  leave(request: QueuedRequest): void {
    if (this.#waiting.remove(request.client, request)) this.#waitingCount--
    else if (this.#running.delete(request)) this.#startNext()
  }

  /** Forgets all requests. */
  clear(): void {
    this.#running.clear()
    this.#waiting.takeAll()
    this.#waitingCount = 0
  }

  #mayStart(client: string): boolean {
    const { running } = this.#limits
    if (this.#running.size >= running.total) return false
    return [...this.#running].filter(request => request.client === client).length < running.client
  }

  #start(request: QueuedRequest): void {
    this.#running.add(request)
    request.start()
  }

  #startNext(): void {
    for (;;) {
      const next = this.#waiting.shift(client => this.#mayStart(client))
      if (next === undefined) return
      this.#waitingCount--
      this.#start(next.item)
    }
  }

  /** Refuses the newest request of the client that has most of them waiting; false: no client has more than this one. */
  #makeRoom(client: string): boolean {
    const { longest = client } = this.#waiting
    if (this.#waiting.lengthOf(longest) <= this.#waiting.lengthOf(client) + 1) return false
    const newest = this.#waiting.pop(longest)
    this.#waitingCount--
    newest?.refuse(new CodedError({ code: 'EXPLORER_BUSY' }))
    return true
  }
}
