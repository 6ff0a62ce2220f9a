import { type ChunkStream, composeStream } from '../../util/async/chunk-stream.ts'

/** A piece of an answer: text, or text that is bytes already. */
export type Chunk = string | Uint8Array

/** An answer that is written as it comes. Nothing of it is made before it is read but what it says it holds. */
export interface AnswerStream extends ChunkStream<Chunk> {
  readonly heldBytes?: number
}

/** What the router says to a body: '' means that nothing is to be sent. */
export type Answer = string | AnswerStream

/** Answers of a batch, in order; a stream as soon as one of them is. */
export const joinAnswers = (answers: readonly Answer[]): Answer => {
  const sent = answers.filter(answer => answer !== '')
  if (sent.length === 0) return ''
  if (sent.every(answer => typeof answer === 'string')) return `[${sent.join(',')}]`
  let heldBytes = 0
  for (const answer of sent) heldBytes += bytesHeldBy(answer)
  const stream = composeStream<Chunk>(async function* (take) {
    let separator = '['
    for (const answer of sent) {
      yield separator
      separator = ','
      if (typeof answer === 'string') yield answer
      else yield* take(answer)
    }
    yield ']'
  })
  return { ...stream, heldBytes }
}

/** What an answer keeps in memory before it is written. */
export const bytesHeldBy = (answer: Answer): number =>
  typeof answer === 'string' ? answer.length : (answer.heldBytes ?? 0)

/** A text that is made already, as a stream of one piece. */
export const streamOf = (text: string): AnswerStream => {
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
