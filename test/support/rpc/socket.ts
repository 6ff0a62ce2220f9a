import WebSocket, { type ClientOptions } from 'ws'
import type { Answer } from './rig.ts'

interface Notification {
  readonly method: string
  readonly params: { readonly subscription: string; readonly result: unknown }
}

/** A WebSocket client that sorts answers from notifications and remembers their order. */
export class Socket {
  readonly raw: WebSocket
  readonly frames: (Answer | Notification)[] = []
  readonly notifications: Notification[] = []
  readonly closed: Promise<number>
  readonly #waiting = new Map<unknown, (answer: Answer) => void>()
  #id = 0

  private constructor(raw: WebSocket) {
    this.raw = raw
    raw.on('message', data => this.#take(String(data)))
    this.closed = new Promise(resolve => raw.once('close', resolve))
  }

  /** `from` is another address of the loopback, for a client of its own. */
  static open(url: string, headers: Record<string, string> = {}, from?: string): Promise<Socket> {
    const raw = new WebSocket(url, { headers, ...(from && { localAddress: from }) } as ClientOptions)
    const socket = new Socket(raw)
    return new Promise((resolve, reject) => {
      raw.once('open', () => resolve(socket))
      raw.once('error', reject)
    })
  }

  #take(text: string): void {
    const frame = JSON.parse(text) as Answer | Notification
    this.frames.push(frame)
    if ('method' in frame) this.notifications.push(frame)
    else this.#waiting.get(frame.id)?.(frame)
  }

  call(method: string, params: unknown = []): Promise<Answer> {
    const id = ++this.#id
    const answer = new Promise<Answer>(resolve => this.#waiting.set(id, resolve))
    this.raw.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return answer
  }

  async result<T = unknown>(method: string, params: unknown = []): Promise<T> {
    const answer = await this.call(method, params)
    if (answer.error !== undefined) throw new Error(`${answer.error.code} ${answer.error.message}`)
    return answer.result as T
  }

  /** Waits until so many notifications have come. */
  async until(count: number, timeoutMs = 45_000): Promise<readonly Notification[]> {
    const deadline = performance.now() + timeoutMs
    while (this.notifications.length < count) {
      if (performance.now() > deadline) throw new Error(`${this.notifications.length} of ${count} notifications came`)
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    return this.notifications
  }

  close(): void {
    this.raw.terminate()
  }
}
