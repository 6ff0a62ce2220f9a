import { decodeOrMalformed, malformed } from '../../primitives/rlp/malformed.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../../primitives/rlp/rlp-cursor.ts'

/** Encoder and decoder of one kind of payload. Strict: accepted bytes encode to the same bytes. */
export interface WireCodec<T> {
  encode(value: T): Uint8Array
  /** Byte fields are views of `bytes`. Throws MESSAGE_MALFORMED. */
  decode(bytes: Uint8Array): T
}

export const malformedMessage = (reason: string): Error => malformed('MESSAGE_MALFORMED', reason)

/** Codec of a payload that is one RLP list; `read` decodes its items. */
export const listCodec = <T>(encode: (value: T) => Uint8Array, read: (cursor: RlpCursor) => T): WireCodec<T> => ({
  encode,
  decode: bytes => decodeOrMalformed('MESSAGE_MALFORMED', () => readWholeList(bytes, read)),
})

/** Codec of a payload that is one string. */
export const stringCodec = (limit: number): WireCodec<Uint8Array> =>
  listCodec(
    bytes => encodeRlp([bytes]),
    cursor => cursor.boundedBytes(limit),
  )

/** Codec of a payload that is a list of strings: at most `count` of at most `limit` bytes each. */
export const stringsCodec = (count: number, limit = Number.POSITIVE_INFINITY): WireCodec<readonly Uint8Array[]> =>
  listCodec(
    strings => encodeRlp([strings]),
    cursor => cursor.items(() => cursor.boundedBytes(limit), count),
  )

/** Codec of a payload with encoder and decoder elsewhere. */
export const plainCodec = <T>(encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T): WireCodec<T> => ({
  encode,
  decode: bytes => decodeOrMalformed('MESSAGE_MALFORMED', () => decode(bytes)),
})

/** Returns a list undecoded, its content unchecked. */
export const rawList = (cursor: RlpCursor): Uint8Array => {
  if (!cursor.nextIsList()) throw malformedMessage('want a list')
  return cursor.raw()
}

/** Reads a string of exactly `size` bytes, a view. */
export const fixedBytes = (cursor: RlpCursor, size: number): Uint8Array => {
  const bytes = cursor.bytes()
  if (bytes.byteLength !== size) throw malformedMessage(`a string of ${bytes.byteLength} bytes, want ${size}`)
  return bytes
}

/** Reads printable ASCII, since it appears in logs and responses. */
export const asciiText = (cursor: RlpCursor, limit: number): string => {
  const bytes = cursor.boundedBytes(limit)
  let text = ''
  for (const byte of bytes) {
    if (byte < 0x20 || byte > 0x7e) throw malformedMessage('text is printable ASCII')
    text += String.fromCharCode(byte)
  }
  return text
}

export const asciiBytes = (text: string): Uint8Array => new TextEncoder().encode(text)
