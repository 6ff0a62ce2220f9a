import { createCipheriv, createDecipheriv } from 'node:crypto'
import { CodedError } from '@tandem/base/errors.ts'
import type { ProtocolError } from '../core/errors.ts'
import { FRAGMENT_BYTES, FRAME_HEADER_BYTES } from '../wire/frames.ts'
import { KEY_BYTES, nextKey, nonceOf, TAG_BYTES } from './noise.ts'

/*
 * Record on the wire: length (4 bytes, big-endian) of what follows; the sealed frame; its tag. A record holds one frame, so that whatever
 * a record costs is charged to the quota of a message: nobody can send tiny ones for free.
 */
const LENGTH_BYTES = 4
export const RECORD_OVERHEAD_BYTES = LENGTH_BYTES + TAG_BYTES
/** The last frame of a long message may hold a single byte. */
const LEAST_BYTES = FRAME_HEADER_BYTES + 1 + TAG_BYTES
const MOST_BYTES = FRAME_HEADER_BYTES + FRAGMENT_BYTES + TAG_BYTES
/** Records until the next key: four gigabytes at most, far below what AES-GCM bears. */
const RECORDS_PER_KEY = 2 ** 16

const broken = (reason: string) => new CodedError<ProtocolError>({ code: 'PROTOCOL_BROKEN', reason })

/** Records of both directions of one connection. */
export interface Records {
  seal(frame: Uint8Array): Uint8Array
  /** Opens the records that are complete, in order. Throws PROTOCOL_BROKEN; nothing may be pushed after that. */
  push(bytes: Uint8Array, nowMs: number, take: (frame: Uint8Array) => void): void
  /** Time since when a record is incomplete; null: none is. */
  readonly unfinishedSinceMs: number | null
}

export const createRecords = (sendKey: Uint8Array, receiveKey: Uint8Array): Records =>
  new SealedRecords(sendKey, receiveKey)

class SealedRecords implements Records {
  readonly #sending: RecordKey
  readonly #receiving: RecordKey
  readonly #length = new Uint8Array(LENGTH_BYTES)
  #lengthBytes = 0
  /** Record that is being received; undefined: its length is. */
  #record: Uint8Array | undefined
  #recordBytes = 0
  unfinishedSinceMs: number | null = null

  constructor(sendKey: Uint8Array, receiveKey: Uint8Array) {
    this.#sending = new RecordKey(sendKey)
    this.#receiving = new RecordKey(receiveKey)
  }

  seal(frame: Uint8Array): Uint8Array {
    const record = Buffer.allocUnsafe(LENGTH_BYTES + frame.byteLength + TAG_BYTES)
    record.writeUInt32BE(frame.byteLength + TAG_BYTES)
    const { key, nonce } = this.#sending.next()
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    record.set(cipher.update(frame), LENGTH_BYTES)
    cipher.final()
    record.set(cipher.getAuthTag(), LENGTH_BYTES + frame.byteLength)
    return record
  }

  push(bytes: Uint8Array, nowMs: number, take: (frame: Uint8Array) => void): void {
    let at = 0
    while (at < bytes.byteLength) {
      this.unfinishedSinceMs ??= nowMs
      at = this.#record === undefined ? this.#readLength(bytes, at) : this.#readRecord(bytes, at, this.#record, take)
    }
  }

  #readLength(bytes: Uint8Array, at: number): number {
    const part = bytes.subarray(at, at + LENGTH_BYTES - this.#lengthBytes)
    this.#length.set(part, this.#lengthBytes)
    this.#lengthBytes += part.byteLength
    if (this.#lengthBytes === LENGTH_BYTES) {
      const length = new DataView(this.#length.buffer).getUint32(0)
      if (length < LEAST_BYTES || length > MOST_BYTES) throw broken(`a record of ${length} bytes`)
      this.#lengthBytes = 0
      this.#record = new Uint8Array(length)
      this.#recordBytes = 0
    }
    return at + part.byteLength
  }

  #readRecord(bytes: Uint8Array, at: number, record: Uint8Array, take: (frame: Uint8Array) => void): number {
    const part = bytes.subarray(at, at + record.byteLength - this.#recordBytes)
    record.set(part, this.#recordBytes)
    this.#recordBytes += part.byteLength
    if (this.#recordBytes === record.byteLength) {
      this.#record = undefined
      this.unfinishedSinceMs = null
      take(this.#open(record))
    }
    return at + part.byteLength
  }

  #open(record: Uint8Array): Uint8Array {
    const { key, nonce } = this.#receiving.next()
    const end = record.byteLength - TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAuthTag(record.subarray(end))
    const frame = decipher.update(record.subarray(0, end))
    try {
      decipher.final()
    } catch (error) {
      throw new CodedError<ProtocolError>(
        { code: 'PROTOCOL_BROKEN', reason: 'a record that does not open' },
        { cause: error },
      )
    }
    return frame
  }
}

/** Key of one direction with the number of the next record. */
class RecordKey {
  #key: Uint8Array
  #number = 0

  constructor(key: Uint8Array) {
    this.#key = key.slice(0, KEY_BYTES)
  }

  next(): { readonly key: Uint8Array; readonly nonce: Uint8Array } {
    const number = this.#number++
    if (number > 0 && number % RECORDS_PER_KEY === 0) this.#key = nextKey(this.#key)
    return { key: this.#key, nonce: nonceOf(number) }
  }
}
