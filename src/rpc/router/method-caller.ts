import { Cancelled } from '@tandem/base/async/cancellation.ts'
import { composeStream, StreamBroken } from '@tandem/base/async/chunk-stream.ts'
import type { FairSemaphore, Release } from '@tandem/base/async/fair-semaphore.ts'
import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import type { ClientBudget } from '@tandem/base/client-budget.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import {
  InvalidArgument,
  invalidArgument,
  invalidParams,
  methodNotFound,
  missingArgument,
  RESPONSE_TOO_LARGE,
  type RpcError,
  serverError,
  toRpcError,
} from '../errors.ts'
import type { Context } from './context.ts'
import { errorText } from './envelope.ts'
import type { Endpoint, Method, Slot } from './method.ts'
import type { RpcMetrics } from './metrics.ts'
import { StreamedJson, toJson } from './raw-json.ts'
import type { ResponseChunk, ResponseStream, RpcResponse } from './response.ts'
import { createSlots, streamInTurn } from './slots.ts'

const NON_ARRAY = invalidParams('non-array args')
const NO_ARGUMENTS: readonly unknown[] = []

/** Calls the handler of a method with the decoded arguments. Throws RpcError for arguments that do not fit its codecs. */
const invokeHandler = (method: Method, params: unknown, context: Context): unknown => {
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

const SOCKET_ONLY = serverError('notifications not supported')
/** Never sent: the connection is gone. */
const CANCELLED = serverError('cancelled')
const CRASHED = serverError('method handler crashed')

/** Called with the method and the error of each call that fails. */
export type RefusalListener = (method: string, error: RpcError) => void

/** Calls methods by name and encodes their results and errors as responses; measures and logs each call. */
export class MethodCaller {
  readonly #log: Logger
  readonly #metrics: RpcMetrics
  readonly #onRefused: RefusalListener | undefined
  readonly #work: FairSemaphore
  readonly #slots = new Map<Slot, FairSemaphore>()

  /** `ledger` has the memory of heavy calls. */
  constructor(log: Logger, metrics: RpcMetrics, ledger?: ClientBudget, onRefused?: RefusalListener) {
    this.#log = log
    this.#metrics = metrics
    this.#onRefused = onRefused
    this.#work = createSlots(RPC_LIMITS.work, 'heavy requests', ledger)
  }

  /** Weight of the heavy calls in progress. */
  get work(): number {
    return this.#work.taken
  }

  /** Returns the response to a call; the id is JSON text. A promise only when the handler returned one. */
  call(name: string, params: unknown, endpoint: Endpoint, id: string): MaybePromise<RpcResponse> {
    const method = endpoint.methods.get(name)
    if (method === undefined) return this.#unknown(name, id)
    const { order } = endpoint.context
    if (order === undefined) return this.#begin(name, method, params, endpoint, id)
    return order.run(method.effect, () => this.#begin(name, method, params, endpoint, id))
  }

  #begin(name: string, method: Method, params: unknown, endpoint: Endpoint, id: string): MaybePromise<RpcResponse> {
    return method.weight < RPC_LIMITS.work.heavy && method.slot === undefined
      ? this.#run(name, method, params, endpoint, id)
      : this.#runHeavy(name, method, params, endpoint, id)
  }

  /** Runs a call when its client's work and the slot of its kind have room, until its result is made. */
  async #runHeavy(name: string, method: Method, params: unknown, endpoint: Endpoint, id: string): Promise<RpcResponse> {
    const { client, cancellation } = endpoint.context
    const { weight, chargesBytes, slot } = method
    const releases: Release[] = []
    try {
      const demand = { weight, reserved: chargesBytes ? 0 : weight * RPC_LIMITS.work.bytes }
      if (weight >= RPC_LIMITS.work.heavy) releases.push(await this.#work.acquire(client, demand, cancellation))
      if (slot !== undefined && slot.isWhileRead !== true)
        releases.push(await this.#slotOf(slot).acquire(client, {}, cancellation))
      return await this.#run(name, this.#readInTurn(method), params, endpoint, id)
    } catch (error) {
      return this.#fail(name, this.#metrics.start(), id, error)
    } finally {
      for (const release of releases) release()
    }
  }

  #slotOf(slot: Slot): FairSemaphore {
    return getOrMake(this.#slots, slot, ({ limits, what }) => createSlots(limits, what))
  }

  /** Returns the method with results that count in the work of their client while they are read, where that makes them. */
  #readInTurn(method: Method): Method {
    const { weight, slot } = method
    const handler = method.handler as (context: Context, ...args: unknown[]) => unknown
    const inTurn = (result: unknown): unknown => {
      if (!(result instanceof StreamedJson) || result.heldBytes > 0) return result
      const isWhileRead = slot?.isWhileRead === true
      const open = (client: string) =>
        isWhileRead ? streamInTurn(this.#slotOf(slot), client, () => result.open(client)) : result.open(client)
      const demand = { weight, reserved: weight * RPC_LIMITS.work.bytes }
      return new StreamedJson(client => streamInTurn(this.#work, client, () => open(client), demand))
    }
    return {
      ...method,
      handler: (context: Context, ...args: unknown[]) => {
        const result = handler(context, ...args)
        return result instanceof Promise ? result.then(inTurn) : inTurn(result)
      },
    }
  }

  #run(name: string, method: Method, params: unknown, endpoint: Endpoint, id: string): MaybePromise<RpcResponse> {
    const startedMs = this.#metrics.start()
    const { client } = endpoint.context
    try {
      if (method.socketOnly && endpoint.context.socket === null) throw SOCKET_ONLY
      const result = invokeHandler(method, params, endpoint.context)
      // Closures live in a method of their own: a call with a result at once allocates none of their variables.
      if (result instanceof Promise) return this.#settle(name, startedMs, id, result, client)
      return this.#succeed(name, startedMs, id, result, client)
    } catch (error) {
      return this.#fail(name, startedMs, id, error)
    }
  }

  #unknown(name: string, id: string): string {
    const error = methodNotFound(name)
    this.#onRefused?.(name, error)
    return errorText(id, error)
  }

  #settle(name: string, startedMs: number, id: string, result: Promise<unknown>, client: string): Promise<RpcResponse> {
    return result.then(
      value => {
        // A result that cannot be encoded is a failure too; it is caught here since this promise has no rejection handler.
        try {
          return this.#succeed(name, startedMs, id, value, client)
        } catch (error) {
          return this.#fail(name, startedMs, id, error)
        }
      },
      error => this.#fail(name, startedMs, id, error),
    )
  }

  #succeed(name: string, startedMs: number, id: string, result: unknown, client: string): RpcResponse {
    if (result instanceof StreamedJson) return this.#stream(name, startedMs, id, result, client)
    const text = `{"jsonrpc":"2.0","id":${id},"result":${toJson(result)}}`
    if (text.length > RPC_LIMITS.answerBytes) throw RESPONSE_TOO_LARGE
    this.#metrics.end(name, startedMs, true)
    return text
  }

  /**
   * The beginning of a result is held until the result is known to be long: a failure until then is an error response like any other. A
   * failure after it breaks the response, and with it the connection: a response never has both a result and an error. Throws StreamBroken.
   */
  #stream(name: string, startedMs: number, id: string, result: StreamedJson, client: string): ResponseStream {
    const failWith = (error: unknown): RpcError => this.#knownError(name, startedMs, error)
    const metrics = this.#metrics
    let source: ResponseStream | undefined
    let held: ResponseChunk[] = []
    let heldBytes = 0
    let hasBegun = false
    const beginning = `{"jsonrpc":"2.0","id":${id},"result":`
    function* begin(): Generator<ResponseChunk> {
      hasBegun = true
      const pieces = held
      held = []
      heldBytes = 0
      yield beginning
      yield* pieces
    }
    const text = composeStream<ResponseChunk>(async function* (readSource) {
      try {
        source = result.open(client)
        for await (const responseChunk of readSource(source)) {
          if (hasBegun) {
            yield responseChunk
            continue
          }
          held.push(responseChunk)
          heldBytes += responseChunk.length
          if (heldBytes > RPC_LIMITS.streamHeldBytes) yield* begin()
        }
      } catch (error) {
        const cause = error instanceof StreamBroken ? error.cause : error
        const known = failWith(cause)
        if (hasBegun) throw error instanceof StreamBroken ? error : new StreamBroken(known.message, { cause })
        held = []
        heldBytes = 0
        yield errorText(id, known)
        return
      }
      if (!hasBegun) yield* begin()
      metrics.end(name, startedMs, true)
      yield '}'
    })
    return {
      length: result.length && Buffer.byteLength(beginning) + result.length + 1,
      get heldBytes() {
        return heldBytes + (source === undefined ? result.heldBytes : (source.heldBytes ?? 0))
      },
      next: text.next,
      cancel() {
        text.cancel()
        held = []
        heldBytes = 0
        // A stream that never started is released as well.
        source ??= result.open(client)
        source.cancel()
      },
    }
  }

  #fail(name: string, startedMs: number, id: string, error: unknown): string {
    return errorText(id, this.#knownError(name, startedMs, error))
  }

  #knownError(name: string, startedMs: number, error: unknown): RpcError {
    this.#metrics.end(name, startedMs, false)
    if (error instanceof Cancelled) return CANCELLED
    const known = toRpcError(error)
    // Stack traces are logged, never sent.
    if (known === undefined) this.#log.error({ method: name, err: error }, 'rpc method failed')
    this.#onRefused?.(name, known ?? CRASHED)
    return known ?? CRASHED
  }
}
