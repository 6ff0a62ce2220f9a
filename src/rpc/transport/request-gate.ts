import { RPC_LIMITS } from '../../config/limits/clients.ts'
import type { Cancellation } from '../../util/async/cancellation.ts'
import { FairQueue } from '../../util/async/fair-queue.ts'
import { nextSlice } from '../../util/async/time-slice.ts'
import type { MaybePromise } from '../methods/block-reads.ts'
import type { Endpoint } from '../router/method.ts'
import { type RpcResponse, withEnd } from '../router/response.ts'
import type { Router } from '../router/router.ts'

const BRACKET = 0x5b
const SPACE = 0x20

/** Returns true when a body is a batch: its first character after white space is a bracket. */
const startsArray = (body: Uint8Array): boolean => {
  let at = 0
  while (at < body.byteLength && (body[at] as number) <= SPACE) at++
  return body[at] === BRACKET
}

const isLarge = (body: Uint8Array): boolean => body.byteLength > RPC_LIMITS.unscannedBytes

/** Returns true when a body is a single request that needs no queue. */
export const isSmallCall = (body: Uint8Array): boolean => !isLarge(body) && !startsArray(body)

interface Waiting {
  readonly enter: () => void
  readonly forget: () => void
}

/**
 * Admission of bodies to the router. Small single requests pass. Of batches and large bodies only a few are parsed and handled at a
 * time, limited in bytes; the others wait unparsed, with their bytes counted, and clients are served in rotation. One large body is
 * decoded per event-loop turn.
 */
export class RequestGate {
  readonly #router: Router
  readonly #waiting = new FairQueue<Waiting>()
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(router: Router) {
    this.#router = router
  }

  /** Bytes of all clients that are parsed and being handled. */
  get held(): number {
    return this.#held
  }

  /** Returns the response; '' when the connection closed while the request was queued. */
  handle(body: Buffer, endpoint: Endpoint, charge?: (calls: number) => void): MaybePromise<RpcResponse> {
    if (isSmallCall(body)) return this.#router.handle(body.toString('utf8'), endpoint, charge)
    const { client } = endpoint.context
    if (isLarge(body) || !this.#mayEnter(client) || this.#waiting.lengthOf(client) > 0)
      return this.#later(body, endpoint, charge)
    this.#add(client, body.byteLength)
    return this.#leaving(this.#router.handle(body.toString('utf8'), endpoint, charge), client, body.byteLength)
  }

  async #later(body: Buffer, endpoint: Endpoint, charge: ((calls: number) => void) | undefined): Promise<RpcResponse> {
    const { client, cancellation } = endpoint.context
    if (!(await this.#enter(client, body.byteLength, cancellation))) return ''
    if (isLarge(body)) await nextSlice(client)
    if (cancellation?.isCancelled === true) {
      this.#leave(client, body.byteLength)
      return ''
    }
    return this.#leaving(this.#router.handle(body.toString('utf8'), endpoint, charge), client, body.byteLength)
  }

  /** Releases the room when the response is made, or read if it is a stream. */
  #leaving(answer: MaybePromise<RpcResponse>, client: string, bytes: number): MaybePromise<RpcResponse> {
    if (answer instanceof Promise) return answer.then(made => this.#leaving(made, client, bytes))
    if (typeof answer !== 'string') return withEnd(answer, () => this.#leave(client, bytes))
    this.#leave(client, bytes)
    return answer
  }

  #mayEnter(client: string): boolean {
    const { total, client: clientLimit } = RPC_LIMITS.parsedBytes
    return this.#held < total && (this.#heldBy.get(client) ?? 0) < clientLimit
  }

  /** false: cancelled while queued. */
  #enter(client: string, bytes: number, cancellation: Cancellation | undefined): MaybePromise<boolean> {
    if (cancellation?.isCancelled === true) return false
    if (this.#waiting.lengthOf(client) === 0 && this.#mayEnter(client)) {
      this.#add(client, bytes)
      return true
    }
    return new Promise(resolve => {
      const waiting: Waiting = {
        enter: () => {
          this.#add(client, bytes)
          resolve(true)
        },
        forget:
          cancellation?.onCancel(() => {
            this.#waiting.remove(client, waiting)
            resolve(false)
          }) ?? (() => {}),
      }
      this.#waiting.push(client, waiting)
    })
  }

  #add(client: string, bytes: number): void {
    this.#held += bytes
    this.#heldBy.set(client, (this.#heldBy.get(client) ?? 0) + bytes)
  }

  #leave(client: string, bytes: number): void {
    this.#held -= bytes
    const left = (this.#heldBy.get(client) ?? 0) - bytes
    if (left === 0) this.#heldBy.delete(client)
    else this.#heldBy.set(client, left)
    for (;;) {
      const next = this.#waiting.shift(owner => this.#mayEnter(owner))
      if (next === undefined) return
      next.item.forget()
      next.item.enter()
    }
  }
}
