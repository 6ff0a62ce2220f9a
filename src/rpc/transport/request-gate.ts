import { Cancelled } from '@tandem/base/async/cancellation.ts'
import { FairSemaphore, type Release } from '@tandem/base/async/fair-semaphore.ts'
import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { nextSlice } from '@tandem/base/async/time-slice.ts'
import { freeBytes } from '@tandem/base/bytes.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { limitExceeded } from '../errors.ts'
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

/**
 * Admission of bodies to the router. Small single requests pass. Of batches and large bodies only a few are parsed and handled at a
 * time, limited in bytes and by the ledger of their client; the others wait unparsed, with their bytes counted, and clients are served in
 * rotation. One large body is decoded per event-loop turn.
 */
export const createRequestGate = (
  router: Pick<Router, 'handle'>,
  ledger = new ClientBudget(RPC_LIMITS.budgets.memory),
) => {
  // Waiting bodies are bounded by their bytes.
  const semaphore = new FairSemaphore(RPC_LIMITS.parsedBytes, () => limitExceeded('too many requests'), ledger)

  const handleLater = async (
    body: Buffer,
    endpoint: Endpoint,
    charge?: (weight: number) => void,
  ): Promise<RpcResponse> => {
    const { client, cancellation } = endpoint.context
    const release = await semaphore.acquire(client, demandOf(body), cancellation).catch(error => {
      if (!(error instanceof Cancelled)) throw error
    })
    if (release === undefined) return ''
    if (isLarge(body)) await nextSlice(client)
    if (cancellation?.isCancelled === true) {
      release()
      return ''
    }
    const text = body.toString('utf8')
    freeBytes(body)
    return releasing(router.handle(text, endpoint, charge), release)
  }

  /** Releases the room when the response is made, or read if it is a stream. */
  const releasing = (response: MaybePromise<RpcResponse>, release: Release): MaybePromise<RpcResponse> => {
    if (response instanceof Promise) return response.then(made => releasing(made, release))
    if (typeof response !== 'string') return withEnd(response, release)
    release()
    return response
  }

  return {
    /** Bytes of all clients that are parsed and being handled. */
    get held(): number {
      return semaphore.taken
    },

    /** Returns the response; '' when the connection closed in the queue. A large body's memory is freed once decoded. */
    handle(body: Buffer, endpoint: Endpoint, charge?: (weight: number) => void): MaybePromise<RpcResponse> {
      if (isSmallCall(body)) return router.handle(body.toString('utf8'), endpoint, charge)
      const release = isLarge(body) ? undefined : semaphore.tryAcquire(endpoint.context.client, demandOf(body))
      if (release === undefined) return handleLater(body, endpoint, charge)
      return releasing(router.handle(body.toString('utf8'), endpoint, charge), release)
    },
  }
}

export type RequestGate = ReturnType<typeof createRequestGate>

const demandOf = ({ byteLength }: Uint8Array) => ({
  weight: byteLength,
  reserved: byteLength * RPC_LIMITS.parsedBytes.memory,
})
