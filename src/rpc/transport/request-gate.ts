import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import { FairQueue } from '@tandem/base/async/fair-queue.ts'
import { nextSlice } from '@tandem/base/async/time-slice.ts'
import { freeMemory } from '@tandem/base/bytes.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
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
  readonly bytes: number
  /** Takes the room, which is given back by the function that it resolves with. */
  readonly enter: () => void
  readonly forget: () => void
}

type Leave = () => void

/**
 * Admission of bodies to the router. Small single requests pass. Of batches and large bodies only a few are parsed and handled at a
 * time, limited in bytes and by the ledger of their client; the others wait unparsed, with their bytes counted, and clients are served in
 * rotation. One large body is decoded per event-loop turn.
 */
export class RequestGate {
  readonly #router: Router
  readonly #ledger: ClientBudget
  readonly #waiting = new FairQueue<Waiting>()
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(router: Router, ledger = new ClientBudget(RPC_LIMITS.budgets.memory)) {
    this.#router = router
    this.#ledger = ledger
    ledger.onRoom(() => this.#enterNext())
  }

  /** Bytes of all clients that are parsed and being handled. */
  get held(): number {
    return this.#held
  }

  /**
   * Returns the response; '' when the connection closed while the request was queued. The memory of a large body is freed when it is
   * decoded.
   */
  handle(body: Buffer, endpoint: Endpoint, charge?: (calls: number) => void): MaybePromise<RpcResponse> {
    if (isSmallCall(body)) return this.#router.handle(body.toString('utf8'), endpoint, charge)
    const { client } = endpoint.context
    const bytes = body.byteLength
    if (isLarge(body) || !this.#mayEnter(client, bytes) || this.#waiting.lengthOf(client) > 0)
      return this.#later(body, endpoint, charge)
    const leave = this.#add(client, bytes)
    return this.#leaving(this.#router.handle(body.toString('utf8'), endpoint, charge), leave)
  }

  async #later(body: Buffer, endpoint: Endpoint, charge: ((calls: number) => void) | undefined): Promise<RpcResponse> {
    const { client, cancellation } = endpoint.context
    const leave = await this.#enter(client, body.byteLength, cancellation)
    if (leave === undefined) return ''
    if (isLarge(body)) await nextSlice(client)
    if (cancellation?.isCancelled === true) {
      leave()
      return ''
    }
    const text = body.toString('utf8')
    freeMemory(body)
    return this.#leaving(this.#router.handle(text, endpoint, charge), leave)
  }

  /** Releases the room when the response is made, or read if it is a stream. */
  #leaving(answer: MaybePromise<RpcResponse>, leave: Leave): MaybePromise<RpcResponse> {
    if (answer instanceof Promise) return answer.then(made => this.#leaving(made, leave))
    if (typeof answer !== 'string') return withEnd(answer, leave)
    leave()
    return answer
  }

  #mayEnter(client: string, bytes: number): boolean {
    const { total, client: clientLimit, memory } = RPC_LIMITS.parsedBytes
    const isWithin = this.#held < total && (this.#heldBy.get(client) ?? 0) < clientLimit
    return isWithin && this.#ledger.hasRoom(client, bytes * memory)
  }

  /** Resolves with undefined when cancelled while queued. */
  #enter(client: string, bytes: number, cancellation: Cancellation | undefined): MaybePromise<Leave | undefined> {
    if (cancellation?.isCancelled === true) return undefined
    if (this.#waiting.lengthOf(client) === 0 && this.#mayEnter(client, bytes)) return this.#add(client, bytes)
    return new Promise(resolve => {
      const waiting: Waiting = {
        bytes,
        enter: () => resolve(this.#add(client, bytes)),
        forget:
          cancellation?.onCancel(() => {
            this.#waiting.remove(client, waiting)
            resolve(undefined)
          }) ?? (() => {}),
      }
      this.#waiting.push(client, waiting)
    })
  }

  #add(client: string, bytes: number): Leave {
    this.#held += bytes
    this.#heldBy.set(client, (this.#heldBy.get(client) ?? 0) + bytes)
    const meter = this.#ledger.meter(client)
    meter.hold(bytes * RPC_LIMITS.parsedBytes.memory)
    return () => {
      this.#held -= bytes
      const left = (this.#heldBy.get(client) ?? 0) - bytes
      if (left === 0) this.#heldBy.delete(client)
      else this.#heldBy.set(client, left)
      meter.hold(0)
      this.#enterNext()
    }
  }

  #enterNext(): void {
    for (;;) {
      const next = this.#waiting.shift((owner, { bytes }) => this.#mayEnter(owner, bytes))
      if (next === undefined) return
      next.item.forget()
      next.item.enter()
    }
  }
}
