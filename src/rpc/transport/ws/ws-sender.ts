import type { Socket } from 'node:net'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { freeBytes } from '@tandem/base/bytes.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import type { WebSocket } from 'ws'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { ANSWERS_FULL } from '../../router/budgets.ts'
import type { ResponseStream } from '../../router/response.ts'
import { drained, WriteTimeout } from '../stream-writer.ts'

type WsFrame = string | Buffer

interface WaitingStream {
  readonly answer: ResponseStream
  readonly done: () => void
}

/** Bytes of one message's fragments that may be buffered in the socket. */
const AHEAD_BYTES = 128 * 1024

/** A backlog below this needs no update of the meter: it does not count (`free` of the budget). */
const UNCOUNTED_BYTES = RPC_LIMITS.budgets.answers.free / 2

const TOO_SLOW = 'reads too slowly'
const CUT_SHORT = 'a response ended early'

interface SenderParts {
  readonly client: WebSocket
  /** Connection below the WebSocket. */
  readonly socket: Socket
  /** Client id that its work counts for. */
  readonly owner: string
  /** Charged for unread bytes. */
  readonly meter: Meter
  /** Called once with the reason when nothing more can be sent. */
  readonly drop: (reason: string) => void
}

const isStream = (item: WsFrame | WaitingStream): item is WaitingStream => typeof item === 'object' && 'answer' in item

/** Sending half of a socket. Other messages wait for a streamed response in fragments, within the limit of all unread. */
export class SocketSender {
  readonly #parts: SenderParts
  readonly #waiting: (WsFrame | WaitingStream)[] = []
  #waitingBytes = 0
  #current: ResponseStream | undefined = undefined
  /** Resolves when the current response has ended. */
  #streaming = Promise.resolve()
  /** Time limit of the reader of resumed subscriptions. */
  readonly #pace = new WriteTimeout()
  #isClosed = false
  /** True until the step of the event loop ends: its frames are then written at once, since a system call takes longer than the bytes. */
  #isCorked = false

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  send(wsFrame: WsFrame): void {
    if (this.#current === undefined) this.#write(wsFrame)
    else if (this.#waitingBytes > RPC_LIMITS.socketBacklogBytes) this.#fail(TOO_SLOW)
    else {
      this.#waiting.push(wsFrame)
      this.#waitingBytes += wsFrame.length
      this.#count()
    }
  }

  /** Returns a promise to await before more is sent; undefined while the reader keeps up. A reader that stalls is dropped. */
  drained(): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    if (this.#current !== undefined) return this.#streaming
    if (this.#parts.client.bufferedAmount <= AHEAD_BYTES) return undefined
    this.#pace.sent(AHEAD_BYTES)
    return this.#pace.wait(drained(this.#parts.socket)).then(came => (came ? undefined : this.#fail(TOO_SLOW)))
  }

  /** Resolves when the whole response is written, or never will be. */
  stream(answer: ResponseStream): Promise<void> {
    if (this.#isClosed) return Promise.resolve(answer.cancel())
    if (this.#current === undefined) return this.#run(answer)
    return new Promise(done => {
      this.#waiting.push({ answer, done })
      this.#count()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#current?.cancel()
    for (const item of this.#waiting.splice(0)) {
      if (!isStream(item)) continue
      item.answer.cancel()
      item.done()
    }
    this.#waitingBytes = 0
  }

  /** Called when the socket is gone; frees what it had not taken. */
  release(): void {
    this.close()
    this.#parts.meter.hold(0)
  }

  #run(answer: ResponseStream): Promise<void> {
    this.#current = answer
    this.#streaming = this.#send(answer)
    return this.#streaming
  }

  async #send(answer: ResponseStream): Promise<void> {
    this.#count()
    await this.#fragments(answer).catch(() => this.#fail(CUT_SHORT))
    this.#current = undefined
    this.#count()
    while (!this.#isClosed) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      if (isStream(next)) {
        void this.#run(next.answer).then(next.done)
        return
      }
      this.#waitingBytes -= next.length
      this.#write(next)
    }
  }

  async #fragments(answer: ResponseStream): Promise<void> {
    const { client } = this.#parts
    const writeTimeout = new WriteTimeout()
    for (
      let responseChunk = await answer.next();
      responseChunk !== undefined && !this.#isClosed;
      responseChunk = await answer.next()
    ) {
      await sliceOver(this.#parts.owner)
      writeTimeout.sent(responseChunk.length)
      const flushed = new Promise<void>(resolve => {
        client.send(responseChunk, { binary: false, fin: false }, () => {
          if (typeof responseChunk !== 'string') freeBytes(responseChunk)
          resolve()
        })
      })
      this.#count()
      if (client.bufferedAmount <= AHEAD_BYTES) continue
      const came = await writeTimeout.wait(done => {
        void flushed.then(done)
        return () => {}
      })
      if (!came) return this.#fail(TOO_SLOW)
    }
    answer.cancel()
    if (!this.#isClosed) client.send('', { binary: false, fin: true })
  }

  /** One frame may exceed the limit of waiting bytes. */
  #write(wsFrame: WsFrame): void {
    const { client } = this.#parts
    if (this.#isClosed || client.readyState !== client.OPEN) return
    if (client.bufferedAmount > RPC_LIMITS.socketBacklogBytes) {
      this.#fail(TOO_SLOW)
      return
    }
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#parts.socket.cork()
      process.nextTick(this.#uncork)
    }
    if (client.bufferedAmount < UNCOUNTED_BYTES) client.send(wsFrame, { binary: false })
    // Bytes that the system does not accept at once are counted until it does.
    else client.send(wsFrame, { binary: false }, () => this.#count())
    if (client.bufferedAmount >= UNCOUNTED_BYTES) this.#uncork()
    this.#count()
  }

  readonly #uncork = (): void => {
    if (!this.#isCorked) return
    this.#isCorked = false
    this.#parts.socket.uncork()
  }

  /** Charges the unread bytes to the client's budget. */
  #count(): void {
    if (this.#isClosed) return
    let bytes = this.#parts.client.bufferedAmount + this.#waitingBytes + (this.#current?.heldBytes ?? 0)
    for (const item of this.#waiting) if (isStream(item)) bytes += item.answer.heldBytes ?? 0
    if (!this.#parts.meter.hold(bytes)) this.#fail(ANSWERS_FULL)
  }

  #fail(reason: string): void {
    if (this.#isClosed) return
    this.close()
    this.#parts.drop(reason)
  }
}
