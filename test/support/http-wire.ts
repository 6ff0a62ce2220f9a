import type { Socket } from 'node:net'
import { dial } from './raw-http.ts'

/** One response as it came over the wire. */
export interface WireResponse {
  readonly status: number
  /** Status line and fields. */
  readonly head: string
  readonly body: string
}

/** Client of one raw connection: what is written is sent as it stands, and responses are read in order. */
export class HttpWire {
  readonly socket: Socket
  readonly responses: WireResponse[] = []
  isClosed = false
  #rest = Buffer.alloc(0)
  #onChange = (): void => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, chunk])
      this.#read()
      this.#onChange()
    })
    socket.once('close', () => {
      this.isClosed = true
      this.#onChange()
    })
  }

  static async open(port: number, from?: string): Promise<HttpWire> {
    return new HttpWire(await dial(port, from))
  }

  /** Sends the pieces, each in a packet of its own. */
  async send(...pieces: readonly (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      this.socket.write(piece)
      await new Promise(resolve => setTimeout(resolve, 2))
    }
  }

  /** Waits until so many responses have come in all; throws when the connection ends or time is over before. */
  async until(count: number, timeoutMs = 20_000): Promise<readonly WireResponse[]> {
    const deadline = performance.now() + timeoutMs
    while (this.responses.length < count) {
      const rest = `${this.responses.length} of ${count} responses, then ${this.#rest.toString('latin1').slice(0, 200)}`
      if (this.isClosed) throw new Error(`the connection ended: ${rest}`)
      if (!(await this.#changed(deadline - performance.now()))) throw new Error(rest)
    }
    return this.responses
  }

  /** Waits until the server closes the connection. */
  async closed(timeoutMs = 20_000): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!this.isClosed) if (!(await this.#changed(deadline - performance.now()))) throw new Error('it stays open')
  }

  end(): void {
    this.socket.destroy()
  }

  #changed(timeoutMs: number): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, Math.max(0, timeoutMs), false)
      this.#onChange = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  #read(): void {
    for (;;) {
      const end = this.#rest.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = this.#rest.toString('latin1', 0, end)
      const status = Number(head.slice(9, 12))
      const from = end + 4
      const body = /\r\ntransfer-encoding: chunked/i.test(head)
        ? chunked(this.#rest, from)
        : sized(this.#rest, from, status < 200 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0))
      if (body === undefined) return
      this.#rest = this.#rest.subarray(body.to)
      if (status >= 200) this.responses.push({ status, head, body: body.bytes.toString('utf8') })
    }
  }
}

interface Body {
  readonly bytes: Buffer
  readonly to: number
}

const sized = (bytes: Buffer, from: number, length: number): Body | undefined =>
  bytes.byteLength < from + length ? undefined : { bytes: bytes.subarray(from, from + length), to: from + length }

const chunked = (bytes: Buffer, from: number): Body | undefined => {
  const parts: Buffer[] = []
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const to = line + 2 + length + 2
    if (bytes.byteLength < to) return undefined
    if (length === 0) return { bytes: Buffer.concat(parts), to }
    parts.push(bytes.subarray(line + 2, to - 2))
    at = to
  }
}

/** POST of a JSON body to `/` as text. */
export const postText = (body: string, fields = ''): string =>
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
