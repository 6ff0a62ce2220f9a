import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CodedError } from '../../util/errors.ts'
import { type ChannelName, channelFromId } from './channels.ts'
import { FRAGMENT_BYTES, FRAME_HEADER_BYTES, HEAD_BYTES, type MessageHead } from './frames.ts'

/** The bytes are not frames; the rest of the stream cannot be decoded. */
type FrameError = { readonly code: 'FRAME_INVALID'; readonly reason: string }

const invalid = (reason: string): CodedError<FrameError> => new CodedError({ code: 'FRAME_INVALID', reason })

export interface FrameSink {
  /**
   * A message begins. `take`: the payload is kept; `skip`: it is read and discarded. Throws when the connection must end. Called
   * before a byte of the payload is stored.
   */
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

/** Assembles messages from frames that arrive in pieces cut anywhere. Holds at most one message per channel. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #messageMs: number
  readonly #partial = new Map<ChannelName, Partial>()
  /** Incomplete header of a frame and of a message. */
  readonly #header = new Uint8Array(FRAME_HEADER_BYTES + HEAD_BYTES)
  #headerBytes = 0
  #channel: ChannelName = 'control'
  /** Remaining bytes of the current frame, without its header. */
  #left = 0
  #frameSinceMs: number | null = null

  /** `messageMs`: time limit of a message, to which the time for its length on the slowest supported line is added. */
  constructor(sink: FrameSink, messageMs: number = NETWORK_LIMITS.messageMs) {
    this.#sink = sink
    this.#messageMs = messageMs
  }

  /** Throws FRAME_INVALID, or what the sink throws; nothing may be pushed after that. */
  push(bytes: Uint8Array, nowMs: number): void {
    let at = 0
    while (at < bytes.byteLength) {
      this.#frameSinceMs ??= nowMs
      at = this.#left === 0 ? this.#readHeader(bytes, at, nowMs) : this.#readPart(bytes, at)
    }
  }

  /** Earliest deadline of unfinished frames and messages; undefined: nothing is unfinished. */
  get deadlineMs(): number | undefined {
    const frame = this.#frameSinceMs === null ? [] : [this.#frameSinceMs + this.#messageMs]
    const deadlines = [...frame, ...[...this.#partial.values()].map(({ expiresAtMs }) => expiresAtMs)]
    return deadlines.length === 0 ? undefined : Math.min(...deadlines)
  }

  /** Called when the connection has ended. */
  close(): void {
    for (const { head, payload } of this.#partial.values()) if (payload !== null) this.#sink.abandon(head)
    this.#partial.clear()
  }

  /** Reads the frame's header, and the message's where one begins. */
  #readHeader(bytes: Uint8Array, at: number, nowMs: number): number {
    let next = this.#fill(bytes, at, FRAME_HEADER_BYTES)
    if (this.#headerBytes < FRAME_HEADER_BYTES) return next
    const length = uint32(this.#header, 0)
    const channel = channelFromId(this.#header[4] as number)
    if (channel === undefined) throw invalid(`no channel ${this.#header[4]}`)
    const partial = this.#partial.get(channel)
    if (partial !== undefined) {
      const expected = Math.min(FRAGMENT_BYTES, partial.head.length - partial.received)
      if (length !== expected) throw invalid(`a frame of ${length} bytes, want ${expected}`)
    } else {
      if (length < HEAD_BYTES || length > FRAGMENT_BYTES) throw invalid(`a first frame of ${length} bytes`)
      next = this.#fill(bytes, next, FRAME_HEADER_BYTES + HEAD_BYTES)
      if (this.#headerBytes < FRAME_HEADER_BYTES + HEAD_BYTES) return next
      this.#begin(channel, length, nowMs)
    }
    this.#channel = channel
    this.#left = partial === undefined ? length - HEAD_BYTES : length
    this.#headerBytes = 0
    if (this.#left === 0) this.#endFrame()
    return next
  }

  #begin(channel: ChannelName, frameLength: number, nowMs: number): void {
    const head: MessageHead = {
      id: this.#header[FRAME_HEADER_BYTES] as number,
      requestId: uint32(this.#header, FRAME_HEADER_BYTES + 1),
      length: uint32(this.#header, FRAME_HEADER_BYTES + 5),
    }
    const expected = Math.min(FRAGMENT_BYTES, HEAD_BYTES + head.length)
    if (frameLength !== expected) throw invalid(`a first frame of ${frameLength} bytes, want ${expected}`)
    const taken = this.#sink.begin(channel, head) === 'take'
    this.#partial.set(channel, {
      head,
      payload: taken ? new Uint8Array(head.length) : null,
      received: 0,
      expiresAtMs: nowMs + this.#messageMs + head.length / NETWORK_LIMITS.bytesPerMs,
    })
  }

  #readPart(bytes: Uint8Array, at: number): number {
    const partial = this.#partial.get(this.#channel) as Partial
    const size = Math.min(this.#left, bytes.byteLength - at)
    partial.payload?.set(bytes.subarray(at, at + size), partial.received)
    partial.received += size
    this.#left -= size
    if (this.#left === 0) this.#endFrame()
    return at + size
  }

  #endFrame(): void {
    this.#frameSinceMs = null
    const partial = this.#partial.get(this.#channel) as Partial
    if (partial.received < partial.head.length) return
    this.#partial.delete(this.#channel)
    if (partial.payload !== null) this.#sink.deliver(this.#channel, partial.head, partial.payload)
  }

  /** Fills the header up to `size` bytes; returns the position after the consumed bytes. */
  #fill(bytes: Uint8Array, at: number, size: number): number {
    const count = Math.max(0, Math.min(size - this.#headerBytes, bytes.byteLength - at))
    this.#header.set(bytes.subarray(at, at + count), this.#headerBytes)
    this.#headerBytes += count
    return at + count
  }
}

const uint32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0
