import type { ServerResponse } from 'node:http'
import { EXPLORER_LIMITS } from '../limits.ts'
import { LIVE_PARTS_PATH } from '../pages/page-route.ts'
import type { ExplorerService } from './explorer-service.ts'

const { perClient, total, bufferedBytes, heartbeatMs } = EXPLORER_LIMITS.live

/**
 * Server-sent events for home pages that are open: after each block the changed parts are read once, and the same text goes to every
 * reader. Nothing is read while nobody listens.
 */
export class LiveStream {
  readonly #read: () => Promise<string | undefined>
  readonly #readers = new Map<ServerResponse, string>()
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #isStale = false

  /** `read`: the changed parts as JSON on one line; undefined when they cannot be read now. */
  constructor(read: () => Promise<string | undefined>) {
    this.#read = read
  }

  get size(): number {
    return this.#readers.size
  }

  /** Returns false when there are too many readers, in all or of this client. */
  add(response: ServerResponse, client: string): boolean {
    const own = [...this.#readers.values()].filter(name => name === client).length
    if (this.#readers.size >= total || own >= perClient) return false
    this.#readers.set(response, client)
    response.once('close', () => this.#remove(response))
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    response.write('retry: 3000\n\n')
    this.#timer ??= setInterval(() => this.#send(':\n\n'), heartbeatMs).unref()
    this.onHead()
    return true
  }

  /** A block was committed, or blocks were taken back. */
  onHead(): void {
    if (this.#readers.size === 0) return
    this.#isStale = true
    if (!this.#isReading) void this.#refresh()
  }

  close(): void {
    for (const response of this.#readers.keys()) response.destroy()
  }

  /** Reads until nothing changed while it read, so that no block is forgotten and reads never overlap. */
  async #refresh(): Promise<void> {
    this.#isReading = true
    while (this.#isStale) {
      this.#isStale = false
      const text = await this.#read().catch(() => undefined)
      if (text !== undefined) this.#send(`data: ${text}\n\n`)
    }
    this.#isReading = false
  }

  /** A reader that does not keep up is disconnected; its page connects again. */
  #send(text: string): void {
    for (const response of this.#readers.keys())
      if (response.writableLength > bufferedBytes) response.destroy()
      else response.write(text)
  }

  #remove(response: ServerResponse): void {
    this.#readers.delete(response)
    if (this.#readers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Changed parts of the home page, as JSON on one line. */
export const readLiveParts = async (service: Pick<ExplorerService, 'request'>): Promise<string | undefined> => {
  const { status, body } = await service.request({ method: 'GET', url: LIVE_PARTS_PATH, headers: {}, body: undefined })
  return status === 200 ? Buffer.from(body.buffer).toString() : undefined
}
