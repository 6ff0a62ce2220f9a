import type { Socket } from 'node:net'
import { isCoded } from '@tandem/base/errors.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import { MESSAGES } from '../messages/messages.ts'
import type { SecureChannel } from '../transport/secure-channel.ts'
import { FrameReader, type FrameSink } from '../wire/frame-reader.ts'
import { encodeFrames, type WireMessage } from '../wire/frames.ts'
import { SendQueue } from '../wire/send-queue.ts'

/** End of a connection. `remote`: the other side sent the reason, or just disconnected (`reason` null). */
export interface ConnectionEnd {
  readonly reason: DisconnectReason | null
  readonly remote: boolean
  readonly detail?: string
}

export interface ConnectionEvents extends FrameSink {
  /** Called once, as the last event. */
  ended(connectionEnd: ConnectionEnd): void
  dropped(channel: WireMessage['channel']): void
  /** Receives an exception from reading; must close the connection. */
  failed(error: unknown): void
}

/** Bytes on the wire. */
export interface TrafficCounters {
  readonly receivedBytes: number
  readonly sentBytes: number
}

/** Timeouts of a connection, in both directions. */
export interface ConnectionTimeouts {
  readonly messageMs: number
  readonly silenceMs: number
}

/** Time for sending the disconnect message. */
const LINGER_MS = 1_000

/** Frames over one secure channel: reads them, sends them by priority, and keeps little in the socket's own buffer. */
export class Connection {
  readonly #socket: Socket
  readonly #records: SecureChannel['records']
  readonly #queue = new SendQueue()
  readonly #reader: FrameReader
  readonly #timeouts: ConnectionTimeouts
  #events: ConnectionEvents
  #blockedSinceMs: number | null = null
  #isOpen = true
  #lastReceivedMs = performance.now()

  constructor({ socket, records }: SecureChannel, timeouts: ConnectionTimeouts, events: ConnectionEvents) {
    this.#socket = socket
    this.#records = records
    this.#timeouts = timeouts
    this.#events = events
    const sink: FrameSink = {
      begin: (channel, head) => (this.#isOpen ? this.#events.begin(channel, head) : 'skip'),
      deliver: (channel, head, payload) => {
        // After the disconnect message nothing is delivered.
        if (this.#isOpen) this.#events.deliver(channel, head, payload)
      },
      abandon: head => this.#events.abandon(head),
    }
    this.#reader = new FrameReader(sink, timeouts.messageMs)
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('drain', () => {
      this.#blockedSinceMs = null
      this.#flush()
    })
    socket.on('error', error => this.#end({ reason: null, remote: true, detail: error.message }))
    socket.on('close', () => this.#end({ reason: null, remote: true }))
  }

  get trafficCounters(): TrafficCounters {
    return { receivedBytes: this.#socket.bytesRead, sentBytes: this.#socket.bytesWritten }
  }

  /** Start of the socket's backpressure; null: there is none. */
  get blockedSinceMs(): number | null {
    return this.#blockedSinceMs
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  queuedBytes(channel: WireMessage['channel']): number {
    return this.#queue.bytes(channel)
  }

  /** Replaces the listeners after the handshake. */
  hand(events: ConnectionEvents): void {
    this.#events = events
  }

  /** Returns false where there is no room for the message. */
  send(message: WireMessage): boolean {
    if (!this.#isOpen) return false
    const queued = this.#queue.push(message)
    if (queued === 'close') this.close('overloaded', 'it takes nothing that is sent')
    else if (queued !== 'queued') this.#events.dropped(message.channel)
    this.#flush()
    return queued === 'queued' || queued === 'displaced'
  }

  /** Sends the reason and closes. */
  close(reason: DisconnectReason, detail?: string): void {
    if (!this.#isOpen) return
    const { id, channel, codec } = MESSAGES.disconnect
    // Queued messages are dropped; a frame under way is already in the socket as a whole.
    const { bytes } = encodeFrames(channel, id, 0, codec.encode(reason))
    this.#socket.end(this.#records.seal(bytes))
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
    this.#end({ reason, remote: false, ...(detail !== undefined && { detail }) })
  }

  /** Closes after the other side sent its reason. */
  endedBy(reason: DisconnectReason): void {
    this.#socket.destroy()
    this.#end({ reason, remote: true })
  }

  /** Called regularly: closes connections that are silent or too slow. */
  watch(): void {
    const nowMs = performance.now()
    const { messageMs, silenceMs } = this.#timeouts
    if (nowMs - this.#lastReceivedMs > silenceMs) this.close('timeout')
    else if ((this.#reader.deadlineMs ?? nowMs) < nowMs) this.close('slow')
    else if (nowMs - (this.#records.unfinishedSinceMs ?? nowMs) > messageMs) this.close('slow')
    else if (nowMs - (this.#blockedSinceMs ?? nowMs) > messageMs)
      this.close('overloaded', 'it takes nothing that is sent')
  }

  #read(bytes: Uint8Array): void {
    if (!this.#isOpen) return
    const nowMs = performance.now()
    this.#lastReceivedMs = nowMs
    try {
      this.#records.push(bytes, nowMs, frame => this.#reader.push(frame, nowMs))
    } catch (error) {
      // Whoever is on the line can damage a record: that proves nothing about the peer.
      if (isCoded(error) && error.code === 'RECORD_DAMAGED') this.#socket.destroy(error)
      else this.#events.failed(error)
    }
  }

  #flush(): void {
    if (this.#blockedSinceMs !== null || !this.#isOpen) return
    this.#socket.cork()
    for (let frame = this.#queue.next(); frame !== undefined; frame = this.#queue.next()) {
      if (!this.#socket.write(this.#records.seal(frame))) {
        this.#blockedSinceMs = performance.now()
        break
      }
    }
    this.#socket.uncork()
  }

  #end(connectionEnd: ConnectionEnd): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#queue.clear()
    this.#reader.close()
    this.#events.ended(connectionEnd)
  }
}
