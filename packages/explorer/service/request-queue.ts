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
  readonly #waiting: FairQueue<QueuedRequest>

  constructor(limits: QueueLimits = EXPLORER_LIMITS.api) {
    this.#limits = limits
    this.#waiting = new FairQueue({ total: limits.waiting.total, owner: limits.waiting.client, displaces: true })
  }

  /** Starts a request, at once or in its turn, or refuses it. */
  add(request: QueuedRequest): void {
    const { client } = request
    const { waiting } = this.#limits
    if (this.#waiting.lengthOf(client) === 0 && this.#mayStart(client)) {
      this.#start(request)
      return
    }
    const refused = this.#waiting.push(client, request)
    refused?.item.refuse(
      new CodedError(
        refused.full === 'total' ? { code: 'EXPLORER_BUSY' } : { code: 'CLIENT_BUSY', limit: waiting.client },
      ),
    )
  }

  /** Gives up the place of a request that is answered, or that nobody waits for any more. */
  leave(request: QueuedRequest): void {
    if (!this.#waiting.remove(request.client, request) && this.#running.delete(request)) this.#startNext()
  }

  /** Forgets all requests. */
  clear(): void {
    this.#running.clear()
    this.#waiting.takeAll()
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
      this.#start(next.item)
    }
  }
}
