import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { ClientBudget } from '@tandem/base/client-budget.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { endConnection } from '@tandem/web/end-connection.ts'
import { acceptsGzip } from '@tandem/web/negotiation.ts'
import { DEV_LIMITS } from '../../../config/limits/chain.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import type { Budgets } from '../../router/budgets.ts'
import type { Endpoint } from '../../router/method.ts'
import type { RpcResponse } from '../../router/response.ts'
import { type ClientIdentity, chargeOf, endpointForClient } from '../clients/clients.ts'
import type { RequestGate } from '../request-gate.ts'
import { WriteTimeout, writeStream } from '../stream-writer.ts'
import { limitPieces, readAway, readBody } from './read-body.ts'

export interface CallOptions {
  readonly gate: RequestGate
  readonly endpoint: Endpoint
  readonly compression: boolean
  readonly budgets: Pick<Budgets, 'bodies' | 'answers'>
}

/** Fields of a response that do not depend on its body. */
export type Fields = Readonly<Record<string, string>>

export const JSON_TYPE = 'application/json'
const JSON_TYPES = /^application\/json(?:-rpc|request)?[ \t]*(?:;|$)/i
const WRONG_TYPE = 'invalid content type, only application/json is supported'
/** Shorter responses fit a packet. */
const LEAST_COMPRESSED = 1_024
const compress = promisify(gzip)

/** Ends a response with a line of text; Node.js drops what has not been read of the body. */
export const sendLine = (response: ServerResponse, status: number, text: string, fields: Fields): void => {
  limitPieces(response.req)
  response.writeHead(status, { ...fields, 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) + 1 })
  response.end(`${text}\n`)
}

/** Handles a POST with JSON-RPC; `fields` are those of every response to it. */
export const createCallHandler = (options: CallOptions) => {
  const endpointOf = createEndpoints(options.endpoint)
  return (request: IncomingMessage, response: ServerResponse, identity: ClientIdentity, fields: Fields): void => {
    if (!JSON_TYPES.test(request.headers['content-type'] ?? '')) {
      sendLine(response, 415, WRONG_TYPE, fields)
      return
    }
    const bodies = options.budgets.bodies.meter(identity.id)
    readBody(request, bodies, result => {
      if (!Buffer.isBuffer(result)) {
        void readAway(request).then(isWhole => {
          const more = {
            ...(result.status === 503 && { 'retry-after': '1' }),
            ...(!isWhole && { connection: 'close' }),
          }
          if (!response.destroyed) sendLine(response, result.status, result.text, { ...fields, ...more })
        })
        return
      }
      const parts = { client: identity.id, fields, options }
      const rpcResponse = options.gate.handle(result, endpointOf(request.socket, identity.id), chargeOf(identity))
      const free = () => bodies.hold(0)
      if (rpcResponse instanceof Promise) void sendInTime(response, rpcResponse.finally(free), parts)
      else {
        free()
        send(response, rpcResponse, parts)
      }
    })
  }
}

/** Returns the endpoint of a client on a connection; a connection keeps the last one, since most have one client. */
const createEndpoints = (endpoint: Endpoint): ((socket: Socket, client: string) => Endpoint) => {
  const known = new WeakMap<Socket, Endpoint>()
  return (socket, client) => {
    const last = known.get(socket)
    if (last?.context.client === client) return last
    const own = endpointForClient(endpoint, client, cancellationOf(socket))
    known.set(socket, own)
    return own
  }
}

interface CallParts {
  readonly client: string
  readonly fields: Fields
  readonly options: Pick<CallOptions, 'budgets' | 'compression' | 'endpoint'>
}

const sendInTime = async (response: ServerResponse, making: Promise<RpcResponse>, parts: CallParts): Promise<void> => {
  const { fields, options } = parts
  const limitMs = options.endpoint.context.dev ? DEV_LIMITS.responseMs : RPC_LIMITS.httpRequestMs
  const timer = setTimeout(() => {
    // Closing the connection ends its remaining work.
    sendLine(response, 503, `no result within ${limitMs / 1_000} s`, { ...fields, connection: 'close' })
  }, limitMs)
  const made = await making
  clearTimeout(timer)
  if (!response.headersSent && !response.destroyed) send(response, made, parts)
  else if (typeof made !== 'string') made.cancel()
}

const send = (response: ServerResponse, rpcResponse: RpcResponse, parts: CallParts): void => {
  const { client, fields, options } = parts
  const { answers } = options.budgets
  if (typeof rpcResponse !== 'string') {
    const { length } = rpcResponse
    response.writeHead(200, {
      ...fields,
      'content-type': JSON_TYPE,
      ...(length !== undefined && { 'content-length': length }),
    })
    if (length === undefined) response.flushHeaders()
    // Earlier responses of the connection are read before.
    const writeTimeout = new WriteTimeout(undefined, () => response.socket === null)
    writeStream(rpcResponse, response, { client, meter: answers.meter(client), writeTimeout }).then(
      isWhole => (isWhole ? response.end() : endConnection(response)),
      () => endConnection(response),
    )
    return
  }
  const bytes = Buffer.byteLength(rpcResponse)
  if (options.compression && bytes >= LEAST_COMPRESSED && acceptsGzip(response.req.headers['accept-encoding'])) {
    void sendCompressed(response, rpcResponse, parts)
    return
  }
  response.writeHead(200, { ...fields, 'content-type': JSON_TYPE, 'content-length': bytes })
  // Nearly every response is Latin-1, the cheapest encoding to write.
  response.end(rpcResponse, bytes === rpcResponse.length ? 'latin1' : 'utf8')
  endUnread(response, bytes, answers, client)
}

const sendCompressed = async (response: ServerResponse, text: string, parts: CallParts): Promise<void> => {
  const { client, fields, options } = parts
  // In a thread, at the level that costs least.
  const bytes = await compress(text, { level: 1 })
  const vary = [fields['vary'] ?? [], 'accept-encoding'].flat().join(', ')
  const encoded = { 'content-type': JSON_TYPE, 'content-encoding': 'gzip', 'content-length': bytes.byteLength }
  response.writeHead(200, { ...fields, ...encoded, vary })
  response.end(bytes)
  endUnread(response, bytes.byteLength, options.budgets.answers, client)
}

/** Ends the connection when its client does not read a response in time, or has no room for what it has not read. */
const endUnread = (response: ServerResponse, bytes: number, answers: ClientBudget, client: string): void => {
  // Most responses are whole in the buffers of the system by now.
  if (response.writableLength === 0 || response.destroyed) return
  const meter = answers.meter(client)
  if (!meter.hold(bytes)) {
    endConnection(response)
    return
  }
  // Responses to earlier requests of the connection are written before.
  const earlierMs = response.socket === null ? RPC_LIMITS.httpRequestMs : 0
  const timer = setTimeout(() => endConnection(response), RPC_LIMITS.streamStallMs + earlierMs)
  response.once('close', () => {
    clearTimeout(timer)
    meter.hold(0)
  })
}

const cancellations = new WeakMap<Socket, Cancellation>()

/** Cancellation of a connection: cancelled when it closes. */
export const cancellationOf = (socket: Socket): Cancellation =>
  getOrMake(cancellations, socket, () => {
    const cancellation = new Cancellation()
    // A connection that is already closed emits no event.
    if (socket.destroyed) cancellation.cancel()
    else socket.once('close', () => cancellation.cancel())
    return cancellation
  })

/** Path of the URL of a request. */
export const pathOfUrl = (url: string): string => {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
