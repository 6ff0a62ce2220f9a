import type { Socket } from 'node:net'
import { freeMemory } from '../../../util/bytes.ts'
import type { Meter } from '../../../util/client-budget.ts'
import type { ResponseChunk, ResponseStream } from '../../router/response.ts'
import { bytesOf, drained, WriteTimeout, writeStream } from '../stream-writer.ts'
import { chunkedHead, LAST_CHUNK } from './lane-answers.ts'

/** Writes whole responses. */
export const writeText = (socket: Socket, out: string): void => {
  // Nearly every response is Latin-1, the cheapest encoding to write.
  if (out !== '') socket.write(out, Buffer.byteLength(out) === out.length ? 'latin1' : 'utf8')
}

interface StreamOptions {
  /** Lines that let a page read the response. */
  readonly cors: string
  readonly client: string
  readonly meter: Meter
}

/** Writes a response of unknown length in chunks (RFC 9112 7.1). Returns true when it was written whole; otherwise the connection ends. */
export const streamAnswer = async (
  socket: Socket,
  answer: ResponseStream,
  { cors, client, meter }: StreamOptions,
): Promise<boolean> => {
  // A client that ends its side during a long response is treated as gone, as by the HTTP server.
  const leave = (): void => void socket.destroy()
  socket.once('end', leave)
  // Responses handled earlier in this pass are written first.
  await undefined
  socket.write(chunkedHead(cors))
  const write = (chunk: ResponseChunk): boolean => writeChunk(socket, chunk)
  const isWhole = await writeStream(answer, socket, { write, client, meter }).catch(() => {
    socket.destroy()
    return false
  })
  socket.off('end', leave)
  if (isWhole) socket.write(LAST_CHUNK)
  return isWhole
}

/** Waits until the client has read what was written; returns false when it has no room for that, or reads too slowly. */
export const untilRead = async (socket: Socket, answers: Meter): Promise<boolean> => {
  if (!answers.hold(socket.writableLength)) return false
  const writeTimeout = new WriteTimeout()
  writeTimeout.sent(socket.writableLength)
  const isRead = await writeTimeout.wait(drained(socket))
  answers.hold(0)
  return isRead
}

const writeChunk = (socket: Socket, chunk: ResponseChunk): boolean => {
  const bytes = bytesOf(chunk)
  socket.cork()
  socket.write(`${bytes.byteLength.toString(16)}\r\n`)
  socket.write(bytes, () => freeMemory(bytes))
  const goesOn = socket.write('\r\n')
  socket.uncork()
  return goesOn
}
