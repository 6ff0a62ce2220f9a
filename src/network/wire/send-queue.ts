import { CHANNEL_NAMES, CHANNELS, type ChannelName } from './channels.ts'
import { FRAGMENT_BYTES, FRAME_HEADER_BYTES, frameAt, type WireMessage } from './frames.ts'

interface Waiting {
  readonly message: WireMessage
  /** Bytes already sent. */
  at: number
}

/** `displaced`: it waits in the place of an older message. `close`: the queue must not be full; the peer reads nothing. */
export type Queued = 'queued' | 'displaced' | 'dropped' | 'close'

/** Outgoing messages of one peer: a bounded queue per channel, sent in the order of the channels. */
export class SendQueue {
  readonly #queues: Readonly<Record<ChannelName, ChannelQueue>>

  constructor() {
    this.#queues = Object.fromEntries(CHANNEL_NAMES.map(name => [name, new ChannelQueue(name)])) as Record<
      ChannelName,
      ChannelQueue
    >
  }

  bytes(channel: ChannelName): number {
    return this.#queues[channel].bytes
  }

  push(message: WireMessage): Queued {
    return this.#queues[message.channel].push(message)
  }

  /** Drops everything, once the connection has ended. */
  clear(): void {
    for (const name of CHANNEL_NAMES) this.#queues[name].clear()
  }

  /** Returns the next frame to send, a view; undefined: nothing is queued. */
  next(): Uint8Array | undefined {
    for (const name of CHANNEL_NAMES) {
      const frame = this.#queues[name].next()
      if (frame !== undefined) return frame
    }
    return undefined
  }
}

class ChannelQueue {
  readonly #name: ChannelName
  /** Consumed from `#head` on; the consumed part is cut off occasionally. */
  #items: (Waiting | undefined)[] = []
  #head = 0
  bytes = 0

  constructor(name: ChannelName) {
    this.#name = name
  }

  push(message: WireMessage): Queued {
    const { queueBytes, drop } = CHANNELS[this.#name]
    const size = message.bytes.byteLength
    // The oldest message is dropped unless part of it was sent: a partial message cannot be taken back.
    const victim = this.#head + ((this.#items[this.#head]?.at ?? 0) > 0 ? 1 : 0)
    let displaced = false
    while (drop === 'oldest' && this.bytes + size > queueBytes && victim < this.#items.length) {
      this.bytes -= this.#items[victim]?.message.bytes.byteLength ?? 0
      this.#items.splice(victim, 1)
      displaced = true
    }
    if (this.bytes + size > queueBytes) return drop === 'close' ? 'close' : 'dropped'
    this.#items.push({ message, at: 0 })
    this.bytes += size
    return displaced ? 'displaced' : 'queued'
  }

  next(): Uint8Array | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    const frame = frameAt(item.message, item.at)
    item.at += FRAGMENT_BYTES + FRAME_HEADER_BYTES
    this.bytes -= frame.byteLength
    if (item.at >= item.message.bytes.byteLength) this.#shift()
    return frame
  }

  clear(): void {
    this.#items = []
    this.#head = 0
    this.bytes = 0
  }

  #shift(): void {
    this.#items[this.#head++] = undefined
    if (this.#head < this.#items.length / 2 && this.#items.length > 0) return
    this.#items = this.#items.slice(this.#head)
    this.#head = 0
  }
}
