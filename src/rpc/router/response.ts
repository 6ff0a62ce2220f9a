import { type ChunkStream, composeStream } from '../../util/async/chunk-stream.ts'

/** Piece of a response: text, or encoded text. */
export type ResponseChunk = string | Uint8Array

/** Response that is produced while it is read. Before that it holds only `heldBytes` in memory. */
export interface ResponseStream extends ChunkStream<ResponseChunk> {
  readonly heldBytes?: number
}

/** Response to a body; '' means that nothing is sent. */
export type RpcResponse = string | ResponseStream

/** Joins the responses of a batch in order; the result is a stream when one of them is. */
export const joinResponses = (answers: readonly RpcResponse[]): RpcResponse => {
  const sent = answers.filter(rpcResponse => rpcResponse !== '')
  if (sent.length === 0) return ''
  if (sent.every(rpcResponse => typeof rpcResponse === 'string')) return `[${sent.join(',')}]`
  let heldBytes = 0
  for (const rpcResponse of sent) heldBytes += bytesHeldBy(rpcResponse)
  const stream = composeStream<ResponseChunk>(async function* (readSource) {
    let separator = '['
    for (const rpcResponse of sent) {
      yield separator
      separator = ','
      if (typeof rpcResponse === 'string') yield rpcResponse
      else yield* readSource(rpcResponse)
    }
    yield ']'
  })
  return { ...stream, heldBytes }
}

/** Returns the bytes a response keeps in memory before it is written. */
export const bytesHeldBy = (rpcResponse: RpcResponse): number =>
  typeof rpcResponse === 'string' ? rpcResponse.length : (rpcResponse.heldBytes ?? 0)

/** Returns a text as a stream of one piece. */
export const streamOf = (text: string): ResponseStream => {
  let rest: string | undefined = text
  return {
    async next() {
      const piece = rest
      rest = undefined
      return piece
    },
    cancel() {
      rest = undefined
    },
  }
}
