import type { ChunkStream } from '@tandem/base/async/chunk-stream.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'

/** Piece of a response: text, or encoded text, whose memory belongs to the reader from then on. */
export type ResponseChunk = string | Uint8Array

/** Response that is produced while it is read. Before that it holds only `heldBytes` in memory. */
export interface ResponseStream extends ChunkStream<ResponseChunk> {
  /** Unread bytes in memory; changes as it is read. */
  readonly heldBytes?: number
  /** Bytes of the whole, when they are known before it is read; reading it cannot fail then. */
  readonly length?: number | undefined
}

/** Response to a body: a text of one chunk at most, or a stream; '' means that nothing is sent. */
export type RpcResponse = string | ResponseStream

/** Bytes of a response in memory before it is written. */
export const bytesHeldBy = (rpcResponse: RpcResponse): number =>
  typeof rpcResponse === 'string' ? rpcResponse.length : (rpcResponse.heldBytes ?? 0)

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000

/** Returns the index after the chunk that starts at `from`. A surrogate pair is not divided: each chunk is encoded separately. */
const endOfChunk = (text: string, from: number): number => {
  const end = from + RPC_LIMITS.chunkChars
  if (end >= text.length) return text.length
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

/** Joins short texts to chunks and cuts long ones into chunks. */
export class ChunkedText {
  #parts: string[] = []
  #length = 0;

  *add(text: string): Generator<string> {
    if (this.#length + text.length > RPC_LIMITS.chunkChars) yield* this.rest()
    let at = 0
    while (text.length - at > RPC_LIMITS.chunkChars) {
      const from = at
      at = endOfChunk(text, from)
      yield text.slice(from, at)
    }
    this.#parts.push(text.slice(at))
    this.#length += text.length - at
  }

  /** All text that was added and not read. */
  *rest(): Generator<string> {
    if (this.#length > 0) yield this.#parts.join('')
    this.#parts = []
    this.#length = 0
  }
}

/** A response that is longer than a body may be cannot be taken whole. */
type AnswerTooLong = { readonly code: 'ANSWER_TOO_LONG'; readonly limit: number }

/** Returns the whole of a response as text; `limit` in characters, of a stream. Throws CodedError<AnswerTooLong>. */
export const textOfResponse = async (
  rpcResponse: RpcResponse,
  limit: number = RPC_LIMITS.bodyBytes,
): Promise<string> => {
  if (typeof rpcResponse === 'string') return rpcResponse
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const piece = await rpcResponse.next()
    if (piece === undefined) return text
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    if (text.length <= limit) continue
    rpcResponse.cancel()
    throw new CodedError<AnswerTooLong>({ code: 'ANSWER_TOO_LONG', limit })
  }
}

/**
 * Returns a stream that holds `size` bytes until they are read; `cut` makes the piece from an offset, and returns its end too. `lengthOf`
 * counts the bytes of all pieces, when it is asked: that makes a copy of a text that shares its parts with others.
 */
export const cutStream = (
  size: number,
  cut: (from: number) => { readonly piece: ResponseChunk; readonly end: number },
  lengthOf = (): number | undefined => undefined,
): ResponseStream => {
  let at = 0
  let source: typeof cut | undefined = cut
  return {
    get length() {
      return lengthOf()
    },
    get heldBytes() {
      return source === undefined ? 0 : size - at
    },
    async next() {
      if (source === undefined || at === size) return undefined
      const { piece, end } = source(at)
      at = end
      return piece
    },
    cancel() {
      source = undefined
    },
  }
}

/** Returns a text as a stream of chunks. */
export const streamOf = (text: string): ResponseStream => {
  const cut = (from: number) => {
    const end = endOfChunk(text, from)
    return { piece: text.slice(from, end), end }
  }
  return cutStream(text.length, cut, () => Buffer.byteLength(text))
}

/** Returns the same response; a text longer than a chunk becomes a stream. */
export const inChunks = (rpcResponse: RpcResponse): RpcResponse =>
  typeof rpcResponse === 'string' && rpcResponse.length > RPC_LIMITS.chunkChars ? streamOf(rpcResponse) : rpcResponse

/** Wraps a stream; `onEnd` is called once when it ends, fails or is cancelled. */
export const withEnd = (stream: ResponseStream, onEnd: () => void): ResponseStream => {
  let hasEnded = false
  const end = (): void => {
    if (hasEnded) return
    hasEnded = true
    onEnd()
  }
  return {
    get length() {
      return stream.length
    },
    get heldBytes() {
      return stream.heldBytes ?? 0
    },
    async next() {
      const piece = await stream.next().catch((error: unknown) => {
        end()
        throw error
      })
      if (piece === undefined) end()
      return piece
    },
    cancel() {
      stream.cancel()
      end()
    },
  }
}
