import { asBuffer } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { type ChannelName, channelFromId } from './channels.ts'
import { FRAGMENT_BYTES, FRAME_HEADER_BYTES, HEAD_BYTES, type MessageHead } from './frames.ts'

/** The bytes are not frames; the rest of the stream cannot be decoded. */
type FrameError = { readonly code: 'FRAME_INVALID'; readonly reason: string }

const invalid = (reason: string): CodedError<FrameError> => new CodedError({ code: 'FRAME_INVALID', reason })

export interface FrameSink {
  /** Called before a payload is stored. `take`: it is kept; `skip`: read and discarded. Throws when the connection must end. */
  begin(channel: ChannelName, head: MessageHead): 'take' | 'skip'
  /** A message is complete; the payload has its own memory. Throws when the connection must end. */
  deliver(channel: ChannelName, head: MessageHead, payload: Uint8Array): void
  /** A message will not complete: the connection ended. */
  abandon(head: MessageHead): void
}

interface Partial {
  readonly head: MessageHead
  /** null: it is skipped. */
  readonly payload: Uint8Array | null
  received: number
  readonly expiresAtMs: number
}

/** Assembles messages from frames. Holds at most one message per channel. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #messageMs: number
  readonly #partial = new Map<ChannelName, Partial>()

  /** `messageMs`: time limit of a message, to which the time for its length on the slowest supported line is added. */
  constructor(sink: FrameSink, messageMs: number = NETWORK_LIMITS.messageMs) {
    this.#sink = sink
    this.#messageMs = messageMs
  }

  /** Reads one whole frame. Throws FRAME_INVALID, or what the sink throws; nothing may be pushed after that. */
  push(frame: Uint8Array, nowMs: number): void {
    const part = frame.subarray(FRAME_HEADER_BYTES)
    if (frame.byteLength < FRAME_HEADER_BYTES || uint32(frame, 0) !== part.byteLength)
      throw invalid(`${frame.byteLength} bytes are no whole frame`)
    const channel = channelFromId(frame[4] as number)
    if (channel === undefined) throw invalid(`no channel ${frame[4]}`)
    const partial = this.#partial.get(channel)
    if (partial !== undefined) this.#take(channel, partial, part)
    else this.#take(channel, this.#begin(channel, part, nowMs), part.subarray(HEAD_BYTES))
  }

  /** Earliest deadline of unfinished messages; undefined: nothing is unfinished. */
  get deadlineMs(): number | undefined {
    const deadlines = [...this.#partial.values()].map(({ expiresAtMs }) => expiresAtMs)
    return deadlines.length === 0 ? undefined : Math.min(...deadlines)
  }

  /** Called when the connection has ended. */
  close(): void {
    for (const { head, payload } of this.#partial.values()) if (payload !== null) this.#sink.abandon(head)
    this.#partial.clear()
  }

  /** Begins the message of a first frame, whose part starts with the head. */
  #begin(channel: ChannelName, part: Uint8Array, nowMs: number): Partial {
    if (part.byteLength < HEAD_BYTES || part.byteLength > FRAGMENT_BYTES)
      throw invalid(`a first frame of ${part.byteLength} bytes`)
    const head: MessageHead = { id: part[0] as number, requestId: uint32(part, 1), length: uint32(part, 5) }
    const expected = Math.min(FRAGMENT_BYTES, HEAD_BYTES + head.length)
    if (part.byteLength !== expected) throw invalid(`a first frame of ${part.byteLength} bytes, want ${expected}`)
    const isTaken = this.#sink.begin(channel, head) === 'take'
    const partial = {
      head,
      payload: isTaken ? new Uint8Array(head.length) : null,
      received: 0,
      expiresAtMs: nowMs + this.#messageMs + head.length / NETWORK_LIMITS.bytesPerMs,
    }
    this.#partial.set(channel, partial)
    return partial
  }

  #take(channel: ChannelName, partial: Partial, bytes: Uint8Array): void {
    const { head, payload, received } = partial
    const expected = Math.min(received === 0 ? FRAGMENT_BYTES - HEAD_BYTES : FRAGMENT_BYTES, head.length - received)
    if (bytes.byteLength !== expected) throw invalid(`a frame of ${bytes.byteLength} bytes, want ${expected}`)
    payload?.set(bytes, received)
    partial.received += bytes.byteLength
    if (partial.received < head.length) return
    this.#partial.delete(channel)
    if (payload !== null) this.#sink.deliver(channel, head, payload)
  }
}

const uint32 = (bytes: Uint8Array, at: number): number => asBuffer(bytes).readUInt32BE(at)
