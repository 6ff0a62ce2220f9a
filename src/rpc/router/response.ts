import { type ChunkStream, composeStream } from '../../util/async/chunk-stream.ts'

/** A piece of an answer: text, or text that is bytes already. */
export type ResponseChunk = string | Uint8Array

/** An answer that is written as it comes. Nothing of it is made before it is read but what it says it holds. */
export interface ResponseStream extends ChunkStream<ResponseChunk> {
  readonly heldBytes?: number
}

/** What the router says to a body: '' means that nothing is to be sent. */
export type RpcResponse = string | ResponseStream

/** Answers of a batch, in order; a stream as soon as one of them is. */
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

/** What an answer keeps in memory before it is written. */
export const bytesHeldBy = (rpcResponse: RpcResponse): number =>
  typeof rpcResponse === 'string' ? rpcResponse.length : (rpcResponse.heldBytes ?? 0)

/** A text that is made already, as a stream of one piece. */
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
