import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { WebSocket } from 'ws'
import { EXPLORER_LIMITS } from '../limits.ts'
import { NodeValue, nodeError } from './node-value.ts'

interface NodeClientOptions {
  /** ws:// or wss:// */
  readonly url: string
  readonly logger: Logger
  /** A block was committed, or the connection is new. */
  readonly onHead?: () => void
}

interface NodeMessage {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: unknown } | null
  readonly method?: unknown
  readonly params?: { readonly result?: unknown }
}

interface NodeRequestText {
  readonly id?: unknown
  readonly method: string
  readonly params?: unknown
}

interface WaitingCall {
  readonly resolve: (answer: NodeMessage) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

const { connectMs, answerMs, answerBytes, pingMs, firstRetryMs, lastRetryMs } = EXPLORER_LIMITS.node
const HEADS_ID = 0

/**
 * JSON-RPC over one WebSocket to a node. A lost connection is made again, at growing intervals; until then calls fail at once, and what
 * asked tries again. Follows the head of the chain by a subscription.
 */
export class NodeClient {
  readonly #options: NodeClientOptions
  readonly #waiting = new Map<number, WaitingCall>()
  #socket: Promise<WebSocket>
  #retry: NodeJS.Timeout | undefined
  #retryMs: number = firstRetryMs
  #nextId = 1
  #isClosed = false
  #isLost = false
  #head: number | undefined
  /** The connection at hand told it. */
  #isHeadCurrent = false

  constructor(options: NodeClientOptions) {
    this.#options = options
    this.#socket = this.#connect()
  }

  /** The newest block that the node told of; undefined before the first. */
  get head(): number | undefined {
    return this.#head
  }

  /** The newest block that the node told of over the connection at hand: behind another one may be a node with fewer blocks. */
  get currentHead(): number | undefined {
    return this.#isHeadCurrent ? this.#head : undefined
  }

  /** Throws CodedError<NodeRequestError>. */
  async call(method: string, ...params: readonly unknown[]): Promise<NodeValue> {
    const { result, error } = await this.#ask({ method, params })
    if (error !== undefined && error !== null)
      throw nodeError({ code: 'NODE_REFUSED', method, message: String(error.message).slice(0, 200) })
    return new NodeValue(result, method)
  }

  /** Passes the text of a request on, and answers the text of the response. Throws CodedError<NodeRequestError>. */
  async pass(request: string): Promise<string> {
    const { id = null, method, params } = JSON.parse(request) as NodeRequestText
    return JSON.stringify({ ...(await this.#ask({ method, params })), id })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#failAll('the explorer ends')
    const socket = await this.#socket.catch(() => undefined)
    socket?.terminate()
  }

  async #ask(request: { readonly method: string; readonly params: unknown }): Promise<NodeMessage> {
    const socket = await this.#socket
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const late = (): void =>
        this.#settle(id)?.reject(unreachable(`no answer to ${request.method} in ${answerMs / 1_000} s`))
      this.#waiting.set(id, { resolve, reject, timer: setTimeout(late, answerMs) })
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...request }), error => {
        if (error) this.#settle(id)?.reject(unreachable(error.message))
      })
    })
  }

  #settle(id: number): WaitingCall | undefined {
    const found = this.#waiting.get(id)
    this.#waiting.delete(id)
    clearTimeout(found?.timer)
    return found
  }

  #failAll(reason: string): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(unreachable(reason))
  }

  #connect(): Promise<WebSocket> {
    const { url } = this.#options
    const socket = new WebSocket(url, {
      handshakeTimeout: connectMs,
      maxPayload: answerBytes,
      perMessageDeflate: false,
    })
    let isHeard = true
    const heard = (): void => {
      isHeard = true
    }
    let watch: NodeJS.Timeout | undefined
    const opened = new Promise<WebSocket>((resolve, reject) => {
      let reason = 'the connection was closed'
      socket.on('error', error => {
        // Of a server that is there, but has no WebSocket at this path.
        const hint = error.message.startsWith('Unexpected server response')
          ? ' (the WebSocket of a node is at /ws)'
          : ''
        reason = `${error.message || reason}${hint}`
      })
      socket.on('open', () => {
        watch = setInterval(() => {
          if (!isHeard) {
            reason = `nothing was heard for ${pingMs / 1_000} s`
            socket.terminate()
            return
          }
          isHeard = false
          socket.ping()
        }, pingMs)
        this.#onOpen(socket)
        resolve(socket)
      })
      socket.on('close', () => {
        clearInterval(watch)
        const error = unreachable(`${new URL(url).host}: ${reason}`)
        reject(error)
        this.#onClosed(reason)
      })
    })
    socket.on('pong', heard)
    socket.on('message', data => {
      heard()
      this.#onMessage(String(data))
    })
    // Callers get the error; there may be none.
    opened.catch(() => undefined)
    return opened
  }

  #onOpen(socket: WebSocket): void {
    if (this.#isClosed) {
      socket.terminate()
      return
    }
    if (this.#isLost) this.#options.logger.info({}, 'the node is reached again')
    this.#isLost = false
    this.#retryMs = firstRetryMs
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: HEADS_ID, method: 'eth_subscribe', params: ['newHeads'] }))
    this.#options.onHead?.()
  }

  #onClosed(reason: string): void {
    this.#isHeadCurrent = false
    this.#failAll(reason)
    if (this.#isClosed) return
    if (!this.#isLost) this.#options.logger.warn({ reason }, 'the node cannot be reached; it is tried again')
    this.#isLost = true
    // Until the next attempt every call fails at once.
    this.#socket = Promise.reject(unreachable(reason))
    this.#socket.catch(() => undefined)
    this.#retry = setTimeout(() => {
      this.#socket = this.#connect()
    }, this.#retryMs)
    this.#retryMs = Math.min(lastRetryMs, 2 * this.#retryMs)
  }

  #onMessage(text: string): void {
    const message = messageOf(text)
    if (message === undefined) return
    if (typeof message.id === 'number') this.#settle(message.id)?.resolve(message)
    else if (message.method === 'eth_subscription') this.#onHeader(message.params?.result)
  }

  #onHeader(header: unknown): void {
    try {
      this.#head = new NodeValue(header, 'newHeads').member('number').integer()
      this.#isHeadCurrent = true
    } catch (error) {
      if (!isCoded(error)) throw error
    }
    this.#options.onHead?.()
  }
}

/** A message of a node, whose members may be anything; undefined: it is none. */
const messageOf = (text: string): NodeMessage | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const unreachable = (reason: string): Error => nodeError({ code: 'NODE_UNREACHABLE', reason })
