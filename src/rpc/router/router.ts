import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { runSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { nextSlice, sliceOver } from '@tandem/base/async/time-slice.ts'
import type { ClientBudget } from '@tandem/base/client-budget.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { CODES, RpcError, serverError } from '../errors.ts'
import { BatchRun } from './batch.ts'
import { CallOrder } from './call-order.ts'
import { errorText, hasInexactId, idToText, isNotification, shortId, textOfId } from './envelope.ts'
import { idsAsWritten, scanShape } from './json-guard.ts'
import type { Endpoint } from './method.ts'
import { MethodCaller, type RefusalListener } from './method-caller.ts'
import { noMetrics, type RpcMetrics } from './metrics.ts'
import { inChunks, type RpcResponse } from './response.ts'

interface RouterOptions {
  readonly log: Logger
  readonly metrics?: RpcMetrics
  readonly onRefused?: RefusalListener
  /** Memory of what clients make a server hold. */
  readonly ledger?: ClientBudget
}

const PARSE_ERROR = errorText('null', new RpcError(CODES.parse, 'parse error'))
const EMPTY_BATCH = errorText('null', new RpcError(CODES.invalidRequest, 'empty batch'))
const LARGE_BATCH = errorText(
  'null',
  new RpcError(CODES.invalidRequest, `batch too large, at most ${RPC_LIMITS.batchItems} requests`),
)
const TOO_COMPLEX = errorText('null', new RpcError(CODES.invalidRequest, 'request too complex'))
const CRASHED = errorText('null', serverError('request handler crashed'))
const INVALID_REQUEST = new RpcError(CODES.invalidRequest, 'invalid request')

/** Dispatcher of requests. Returns a promise only when a handler returned one, and a stream only when one of the results is one. */
export class Router {
  readonly #log: Logger
  readonly #caller: MethodCaller

  constructor({ log, metrics = noMetrics, onRefused, ledger }: RouterOptions) {
    this.#log = log
    this.#caller = new MethodCaller(log, metrics, ledger, onRefused)
  }

  /** Handles a body; `charge` gets the sum of the weights of its calls. A fault costs the client its response, never the process. */
  handle(body: string, endpoint: Endpoint, charge?: (weight: number) => void): MaybePromise<RpcResponse> {
    try {
      const response = this.#handle(body, endpoint, charge)
      return response instanceof Promise ? response.catch(error => this.#crashed(error)) : response
    } catch (error) {
      return this.#crashed(error)
    }
  }

  #crashed(error: unknown): string {
    this.#log.error({ err: error }, 'rpc request failed')
    return CRASHED
  }

  #handle(body: string, endpoint: Endpoint, charge?: (weight: number) => void): MaybePromise<RpcResponse> {
    if (body.length > RPC_LIMITS.unscannedBytes) return this.#handleLarge(body, endpoint, charge)
    const request = parsed(body)
    if (request === INVALID_JSON) return PARSE_ERROR
    charge?.(weightOf(request, endpoint))
    return this.#dispatch(request, endpoint, hasInexactIds(request) ? idsAsWritten(body) : [])
  }

  /** Scans, parses and dispatches a large body in turns of the event loop of their own. */
  async #handleLarge(body: string, endpoint: Endpoint, charge?: (weight: number) => void): Promise<RpcResponse> {
    const { client } = endpoint.context
    if (await runSlicedWork(scanShape(body), () => sliceOver(client))) return TOO_COMPLEX
    await nextSlice(client)
    const request = parsed(body)
    if (request === INVALID_JSON) return PARSE_ERROR
    charge?.(weightOf(request, endpoint))
    await nextSlice(client)
    return this.#dispatch(request, endpoint, hasInexactIds(request) ? idsAsWritten(body) : [])
  }

  /** `ids`: ids as written, by index, where some are inexact. */
  #dispatch(request: unknown, endpoint: Endpoint, ids: readonly (string | undefined)[]): MaybePromise<RpcResponse> {
    if (endpoint.context.arrival === undefined) return this.#respond(request, endpoint, ids)
    const { order: _, arrival, ...context } = endpoint.context
    const within = { methods: endpoint.methods, context }
    if (!hasEffect(request, endpoint)) arrival.release()
    if (arrival.before === undefined) return this.#respond(request, within, ids)
    return arrival.before.then(() => this.#respond(request, within, ids))
  }

  #respond(request: unknown, endpoint: Endpoint, ids: readonly (string | undefined)[]): MaybePromise<RpcResponse> {
    if (!Array.isArray(request))
      return inChunksLater(this.#one(request, endpoint, hasInexactId(request) ? ids[0] : undefined))
    if (request.length === 0) return EMPTY_BATCH
    if (request.length > RPC_LIMITS.batchItems) return LARGE_BATCH
    return this.#batch(request, endpoint, ids)
  }

  /** Returns the response to one request; '' for a notification. */
  #one(request: unknown, endpoint: Endpoint, exactId: string | undefined): MaybePromise<RpcResponse> {
    if (typeof request !== 'object' || request === null || Array.isArray(request))
      return errorText('null', INVALID_REQUEST)
    const { id, method: name, params } = request as { id?: unknown; method?: unknown; params?: unknown }
    const idText = exactId === undefined ? idToText(id) : shortId(exactId)
    if (idText === undefined) return errorText('null', INVALID_REQUEST)
    if (typeof name !== 'string') return errorText(idText, INVALID_REQUEST)
    if (id === undefined && endpoint.methods.get(name)?.needsId === true) return ''
    const response = this.#caller.call(name, params, endpoint, idText)
    if (id !== undefined) return response
    return response instanceof Promise ? response.then(unread) : unread(response)
  }

  #batch(
    requests: readonly unknown[],
    { methods, context }: Endpoint,
    ids: readonly (string | undefined)[],
  ): MaybePromise<RpcResponse> {
    let within: Endpoint | undefined
    const order = hasEffect(requests, { methods }) ? new CallOrder() : undefined
    const run = new BatchRun({
      size: requests.length,
      run: (index, cancellation) => {
        within ??= { methods, context: { ...context, cancellation, order } }
        try {
          return this.#one(requests[index], within, ids[index])
        } catch (error) {
          return this.#crashed(error)
        }
      },
      refuse: (index, error) =>
        isNotification(requests[index]) ? '' : errorText(shortId(ids[index]) ?? textOfId(requests[index]), error),
      client: context.client,
      meter: context.budgets.answers.meter(context.client),
      connection: context.cancellation,
    })
    return run.respond()
  }
}

/** Response to a notification: nothing is sent, and a stream must not wait for its reader. */
const unread = (response: RpcResponse): string => {
  if (typeof response !== 'string') response.cancel()
  return ''
}

const INVALID_JSON = Symbol('invalid JSON')

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return INVALID_JSON
  }
}

/** Returns true when a request, or one of a batch, has an id that must be returned as it was written. */
const hasInexactIds = (request: unknown): boolean =>
  Array.isArray(request) ? request.length <= RPC_LIMITS.batchItems && request.some(hasInexactId) : hasInexactId(request)

const weightOf = (request: unknown, { methods }: Pick<Endpoint, 'methods'>): number =>
  Array.isArray(request)
    ? request.reduce<number>((sum, item) => sum + weightOf(item, { methods }), 0)
    : (methods.get((request as { readonly method?: unknown } | null)?.method as string)?.weight ?? 1)

/** Returns true when a request, or one of a batch, changes something for the calls after it. */
const hasEffect = (request: unknown, { methods }: Pick<Endpoint, 'methods'>): boolean => {
  if (Array.isArray(request)) return request.some(one => !Array.isArray(one) && hasEffect(one, { methods }))
  const name = (request as { readonly method?: unknown } | null)?.method
  return typeof name === 'string' && methods.get(name)?.effect !== undefined
}

const inChunksLater = (response: MaybePromise<RpcResponse>): MaybePromise<RpcResponse> =>
  response instanceof Promise ? response.then(inChunks) : inChunks(response)
