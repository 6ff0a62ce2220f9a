import { assert } from '@tandem/base/assert.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CHANNELS, type ChannelName } from './channels.ts'

/**
 * Message on the wire:
 *
 *     message  = head payload                    head = id (1 byte), request id (4), length of the payload (4)
 *     frame    = length (4) channel (1) part     part = the next bytes of the channel's message, at most FRAGMENT
 *
 * All integers are unsigned and big-endian. Every frame of a message but the last carries exactly FRAGMENT bytes, so a message has one
 * encoding and cannot be sent in tiny frames. Frames of different channels may alternate, messages of one channel do not.
 */
export interface MessageHead {
  readonly id: number
  /** 0: neither a request nor a response. */
  readonly requestId: number
  /** Length of the payload in bytes. */
  readonly length: number
}

export const FRAME_HEADER_BYTES = 5
export const HEAD_BYTES = 9
export const FRAGMENT_BYTES = NETWORK_LIMITS.fragmentBytes
const STEP = FRAME_HEADER_BYTES + FRAGMENT_BYTES
const MAX_REQUEST_ID = 0xffffffff

/** Encoded message for any number of peers: all its frames in order. */
export interface WireMessage {
  readonly channel: ChannelName
  readonly bytes: Uint8Array
}

export const encodeFrames = (channel: ChannelName, id: number, requestId: number, payload: Uint8Array): WireMessage => {
  assert(requestId >= 0 && requestId <= MAX_REQUEST_ID, 'a request id has 32 bits')
  const size = HEAD_BYTES + payload.byteLength
  const frames = Math.ceil(size / FRAGMENT_BYTES)
  const bytes = new Uint8Array(size + frames * FRAME_HEADER_BYTES)
  const view = new DataView(bytes.buffer)
  for (let frame = 0; frame < frames; frame++) {
    const at = frame * STEP
    const start = frame * FRAGMENT_BYTES
    const length = Math.min(FRAGMENT_BYTES, size - start)
    view.setUint32(at, length)
    bytes[at + 4] = CHANNELS[channel].id
    const from = Math.max(0, start - HEAD_BYTES)
    bytes.set(
      payload.subarray(from, start + length - HEAD_BYTES),
      at + FRAME_HEADER_BYTES + (frame === 0 ? HEAD_BYTES : 0),
    )
  }
  bytes[FRAME_HEADER_BYTES] = id
  view.setUint32(FRAME_HEADER_BYTES + 1, requestId)
  view.setUint32(FRAME_HEADER_BYTES + 5, payload.byteLength)
  return { channel, bytes }
}

/** Returns the frame that begins at `at`, as a view. */
export const frameAt = ({ bytes }: WireMessage, at: number): Uint8Array =>
  bytes.subarray(at, Math.min(bytes.byteLength, at + STEP))
