import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from 'node:http'
import { StallTimer } from '@tandem/base/async/stall-timer.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import { endConnection } from '@tandem/web/end-connection.ts'
import { FORWARD_LIMITS } from '../../../config/limits/clients.ts'

/** Server on this machine that handles requests of the public port. */
export interface ForwardTarget {
  readonly port: number
  /** Proof that a request comes from this node, whose `x-forwarded-for` may then be believed. */
  readonly key: string
}

/** Header of the key. */
export const FORWARD_KEY_HEADER = 'x-tandem-forward'

/** Fields of one connection only (RFC 9110, 7.6.1), and those that the node itself writes. */
const OWN_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  FORWARD_KEY_HEADER,
])

/** Every request has a connection of its own, so no client's bytes can become part of another one's request. */
const agent = new Agent({ keepAlive: false })

interface ForwardOptions {
  readonly client: string
  /** Bytes of the response until its client has read it: the system's buffers take most of it at once, from a server that then knows no more. */
  readonly unread: Meter
  /** Sends the response where the server's cannot be sent. */
  readonly refuse: (error: Error) => void
}

/** Passes a request on and its response back, both piece by piece. A response that breaks off is broken off here too. */
export const forward = (
  request: IncomingMessage,
  response: ServerResponse,
  { port, key }: ForwardTarget,
  { client, unread, refuse }: ForwardOptions,
): void => {
  const { 'transfer-encoding': encoding, 'content-length': length = 0 } = request.headers
  const outgoing = requestOf({
    agent,
    host: '127.0.0.1',
    port,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: {
      ...withoutOwn(request.headers),
      // A body is framed as the client framed it.
      ...(encoding !== undefined && { 'transfer-encoding': 'chunked' }),
      'x-forwarded-for': client,
      [FORWARD_KEY_HEADER]: key,
      // A server that closes after a refusal, with bytes of the body unread, would take the response with it.
      connection: 'keep-alive',
    },
    timeout: FORWARD_LIMITS.silenceMs,
  })
  response.once('close', () => {
    outgoing.destroy()
    unread.hold(0)
  })
  outgoing.once('timeout', () => outgoing.destroy(new Error('no response in time')))
  outgoing.on('error', error => {
    if (!response.headersSent && !response.destroyed) refuse(error)
  })
  outgoing.once('response', incoming => {
    // A refusal may come before the body, whose rest nobody reads.
    if (!request.complete) request.unpipe(outgoing).resume()
    if (!unread.hold(Number(incoming.headers['content-length'] ?? 0))) {
      refuse(new Error('too many of its responses are not read yet'))
      outgoing.destroy()
      return
    }
    response.writeHead(incoming.statusCode ?? 502, withoutOwn(incoming.headers))
    // Each piece is sent at once: streams of events have long pauses.
    response.flushHeaders()
    sendAsRead(incoming, response)
  })
  if (encoding !== undefined || Number(length) > 0) request.pipe(outgoing)
  else outgoing.end()
}

/** Sends a response as its client takes it, who is dropped when it takes nothing for a while, or less than the slowest average. */
const sendAsRead = (incoming: IncomingMessage, response: ServerResponse): void => {
  const drop = (): void => endConnection(response)
  const stall = new StallTimer(FORWARD_LIMITS, drop, () => response.socket === null)
  incoming.on('data', (piece: Buffer) => {
    stall.count(piece.byteLength)
    if (response.write(piece)) return
    incoming.pause()
    stall.wait()
    response.once('drain', () => {
      stall.stop()
      incoming.resume()
    })
  })
  incoming.once('end', () => {
    response.end()
    if (!response.writableFinished) stall.wait()
  })
  incoming.once('error', drop)
  incoming.once('close', () => incoming.complete || drop())
  response.once('close', () => stall.stop())
}

const withoutOwn = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const named = new Set(headers.connection?.split(',').map(name => name.trim().toLowerCase()))
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_FIELDS.has(name) && !named.has(name)))
}
