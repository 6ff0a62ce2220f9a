import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { Cancelled } from '../../util/async/cancellation.ts'
import { composeStream, StreamBroken } from '../../util/async/chunk-stream.ts'
import type { Logger } from '../../util/logger.ts'
import type { Context } from '../context.ts'
import {
  CODES,
  InvalidArgument,
  invalidArgument,
  invalidParams,
  methodNotFound,
  missingArgument,
  RESPONSE_TOO_LARGE,
  RpcError,
  serverError,
  toRpcError,
} from '../errors.ts'
import type { MaybePromise } from '../methods/block-reads.ts'
import { noMetrics, type RpcMetrics } from '../metrics.ts'
import { BatchRun } from './batch.ts'
import { idsAsWritten, isTooComplex } from './json-guard.ts'
import type { Method } from './method.ts'
import { StreamedJson, toJson } from './raw-json.ts'
import { inChunks, type ResponseChunk, type ResponseStream, type RpcResponse } from './response.ts'

/** Endpoint: its methods by name, and the context of their handlers. */
export interface Endpoint {
  readonly methods: ReadonlyMap<string, Method>
  readonly context: Context
}

export interface RouterOptions {
  readonly log: Logger
  readonly metrics?: RpcMetrics
}

/**
 * Dispatcher of requests. Returns a promise only when a handler returned one, and a stream only when one of the results
 * is one.
 */
export interface Router {
  /** Handles a request body; `charge` receives the number of calls in it. */
  handle(body: string, endpoint: Endpoint, charge?: (calls: number) => void): MaybePromise<RpcResponse>
}

const errorJson = ({ code, message, data }: RpcError): string => {
  const dataText = data === undefined ? '' : `,"data":${JSON.stringify(data)}`
  return `{"code":${code},"message":${JSON.stringify(message)}${dataText}}`
}
const errorText = (id: string, error: RpcError): string => `{"jsonrpc":"2.0","id":${id},"error":${errorJson(error)}}`

const PARSE_ERROR = errorText('null', new RpcError(CODES.parse, 'parse error'))
const EMPTY_BATCH = errorText('null', new RpcError(CODES.invalidRequest, 'empty batch'))
const LARGE_BATCH = errorText(
  'null',
  new RpcError(CODES.invalidRequest, `batch too large, at most ${RPC_LIMITS.batchItems} requests`),
)
const TOO_COMPLEX = errorText('null', new RpcError(CODES.invalidRequest, 'request too complex'))
const INVALID_REQUEST = new RpcError(CODES.invalidRequest, 'invalid request')
const NON_ARRAY = invalidParams('non-array args')
const SOCKET_ONLY = serverError('notifications not supported')
/** Never sent: the connection is gone. */
const CANCELLED = serverError('cancelled')
const CRASHED = serverError('method handler crashed')
const NO_ARGUMENTS: readonly unknown[] = []

export const createRouter = ({ log, metrics = noMetrics }: RouterOptions): Router => {
  /** Returns the response to one request; '' for a notification. */
  const one = (request: unknown, endpoint: Endpoint, exactId: string | undefined): MaybePromise<RpcResponse> => {
    if (typeof request !== 'object' || request === null || Array.isArray(request))
      return errorText('null', INVALID_REQUEST)
    const { id, method: name, params } = request as { id?: unknown; method?: unknown; params?: unknown }
    const idText = exactId === undefined ? idToText(id) : shortId(exactId)
    if (idText === undefined) return errorText('null', INVALID_REQUEST)
    if (typeof name !== 'string') return errorText(idText, INVALID_REQUEST)
    if (id === undefined && endpoint.methods.get(name)?.needsId === true) return ''
    const answer = call(name, params, endpoint, idText)
    if (id !== undefined) return answer
    return answer instanceof Promise ? answer.then(() => '') : ''
  }

  const call = (name: string, params: unknown, endpoint: Endpoint, id: string): MaybePromise<RpcResponse> => {
    const method = endpoint.methods.get(name)
    if (method === undefined) return errorText(id, methodNotFound(name))
    const startedMs = metrics.start()
    const { client } = endpoint.context
    try {
      if (method.socketOnly && endpoint.context.socket === null) throw SOCKET_ONLY
      const result = invoke(method, params, endpoint.context)
      if (result instanceof Promise)
        return result.then(
          value => {
            // A result that cannot be encoded is a failure too; it is caught here since this promise has no rejection
            // handler.
            try {
              return succeed(name, startedMs, id, value, client)
            } catch (error) {
              return failed(name, startedMs, id, error)
            }
          },
          error => failed(name, startedMs, id, error),
        )
      return succeed(name, startedMs, id, result, client)
    } catch (error) {
      return failed(name, startedMs, id, error)
    }
  }

  const succeed = (name: string, startedMs: number, id: string, result: unknown, client: string): RpcResponse => {
    if (result instanceof StreamedJson) return stream(name, startedMs, id, result, client)
    const text = `{"jsonrpc":"2.0","id":${id},"result":${toJson(result)}}`
    if (text.length > RPC_LIMITS.answerBytes) throw RESPONSE_TOO_LARGE
    metrics.end(name, startedMs, true)
    return text
  }

  /**
   * A failure before the first piece becomes an error response; after it the error is appended to the partial result.
   * Throws StreamBroken.
   */
  const stream = (
    name: string,
    startedMs: number,
    id: string,
    result: StreamedJson,
    client: string,
  ): ResponseStream => {
    let source: ResponseStream | undefined
    const text = composeStream<ResponseChunk>(async function* (readSource) {
      let hasBegun = false
      try {
        source = result.open(client)
        for await (const responseChunk of readSource(source)) {
          if (!hasBegun) yield `{"jsonrpc":"2.0","id":${id},"result":`
          hasBegun = true
          yield responseChunk
        }
      } catch (error) {
        const known = knownError(name, startedMs, error instanceof StreamBroken ? error.cause : error)
        // Closing the connection is better than a response that is not valid JSON.
        if (hasBegun && error instanceof StreamBroken) throw error
        yield hasBegun ? `,"error":${errorJson(known)}}` : errorText(id, known)
        return
      }
      metrics.end(name, startedMs, true)
      yield '}'
    })
    return {
      get heldBytes() {
        return source === undefined ? result.heldBytes : (source.heldBytes ?? 0)
      },
      next: text.next,
      cancel() {
        text.cancel()
        // A stream that never started is released as well.
        source ??= result.open(client)
        source.cancel()
      },
    }
  }

  const failed = (name: string, startedMs: number, id: string, error: unknown): string =>
    errorText(id, knownError(name, startedMs, error))

  const knownError = (name: string, startedMs: number, error: unknown): RpcError => {
    metrics.end(name, startedMs, false)
    if (error instanceof Cancelled) return CANCELLED
    const known = toRpcError(error)
    // Stack traces are logged, never sent.
    if (known === undefined) log.error({ method: name, err: error }, 'rpc method failed')
    return known ?? CRASHED
  }

  const batch = (
    requests: readonly unknown[],
    { methods, context }: Endpoint,
    ids: readonly (string | undefined)[],
  ): MaybePromise<RpcResponse> => {
    let within: Endpoint | undefined
    const run = new BatchRun({
      size: requests.length,
      run: (index, cancellation) => {
        within ??= { methods, context: { ...context, cancellation } }
        return one(requests[index], within, ids[index])
      },
      refuse: (index, error) =>
        isNotification(requests[index]) ? '' : errorText(shortId(ids[index]) ?? textOfId(requests[index]), error),
      meter: context.budgets.answers.meter(context.client),
      connection: context.cancellation,
    })
    return run.answer()
  }

  return {
    handle(body, endpoint, charge) {
      if (isTooComplex(body)) return TOO_COMPLEX
      let request: unknown
      try {
        request = JSON.parse(body)
      } catch {
        return PARSE_ERROR
      }
      charge?.(Array.isArray(request) ? request.length : 1)
      if (!Array.isArray(request))
        return inChunksLater(one(request, endpoint, hasInexactId(request) ? idsAsWritten(body)[0] : undefined))
      if (request.length === 0) return EMPTY_BATCH
      if (request.length > RPC_LIMITS.batchItems) return LARGE_BATCH
      return batch(request, endpoint, request.some(hasInexactId) ? idsAsWritten(body) : [])
    },
  }
}

const invoke = (method: Method, params: unknown, context: Context): unknown => {
  const { handler, params: codecs } = method
  // A method without parameters ignores any arguments (docs/design/rpc.md#arguments).
  if (codecs.length === 0) return (handler as (context: Context) => unknown)(context)
  return (handler as (context: Context, ...args: unknown[]) => unknown)(context, ...decode(codecs, params))
}

const decode = (codecs: Method['params'], params: unknown): unknown[] => {
  const given = params === undefined || params === null ? NO_ARGUMENTS : params
  if (!Array.isArray(given)) throw NON_ARRAY
  if (given.length > codecs.length) throw invalidParams(`too many arguments, want at most ${codecs.length}`)
  const args: unknown[] = new Array(codecs.length)
  for (let i = 0; i < codecs.length; i++) {
    const codec = codecs[i]
    const value: unknown = given[i]
    if (codec === undefined) continue
    if (value === undefined || value === null) {
      if (!codec.optional) throw missingArgument(i + 1)
      continue
    }
    try {
      args[i] = codec.parse(value)
    } catch (error) {
      throw error instanceof InvalidArgument ? invalidArgument(i + 1, error.message) : error
    }
  }
  return args
}

const shortId = (exactId: string | undefined): string | undefined =>
  exactId !== undefined && exactId.length <= RPC_LIMITS.idChars ? exactId : undefined

const inChunksLater = (answer: MaybePromise<RpcResponse>): MaybePromise<RpcResponse> =>
  answer instanceof Promise ? answer.then(inChunks) : inChunks(answer)

/**
 * Returns the id as JSON text; undefined for an array or object, which are invalid ids, and for a long one. Absent and
 * null both become null.
 */
const idToText = (id: unknown): string | undefined => {
  if (typeof id === 'number') return String(id)
  if (typeof id === 'boolean' || (typeof id === 'string' && id.length <= RPC_LIMITS.idChars)) return JSON.stringify(id)
  return id === undefined || id === null ? 'null' : undefined
}

/** A request without an id gets no response; a value that is not a request does. */
const isNotification = (request: unknown): boolean =>
  typeof request === 'object' && request !== null && !Array.isArray(request) && !('id' in request)

/** Returns the id of any batch item as text; null for values that are not requests. */
const textOfId = (request: unknown): string => idToText((request as { id?: unknown } | null)?.id) ?? 'null'

/** Returns true when the id is a number that JavaScript cannot hold exactly; it must be returned as it was sent. */
const hasInexactId = (request: unknown): boolean => {
  if (typeof request !== 'object' || request === null) return false
  const { id } = request as { id?: unknown }
  return typeof id === 'number' && !Number.isSafeInteger(id)
}
