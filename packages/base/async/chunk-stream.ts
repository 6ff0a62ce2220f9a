/** Stream read in pieces by one reader, who can cancel at any moment. */
export interface ChunkStream<T> {
  /** Returns the next piece; undefined at the end, and after `cancel`. One call at a time. Throws when the source fails. */
  next(): Promise<T | undefined>
  /** Stops the stream; a pending read ends. No effect after the end. */
  cancel(): void
}

/** Stream that broke within a value: no valid continuation exists. */
export class StreamBroken extends Error {
  override readonly name = 'CutShort'
}

/** Reads other streams within the parts of `composeStream`. */
export type ReadSource<T> = (source: ChunkStream<T>) => AsyncGenerator<T>

/**
 * Creates a stream of parts, some of them streams. `make` is a generator; it reads other streams by `readSource`, so that a cancel
 * reaches the stream being read.
 */
export const composeStream = <T>(make: (readSource: ReadSource<T>) => AsyncGenerator<T>): ChunkStream<T> => {
  let current: ChunkStream<T> | undefined
  let isCancelled = false
  async function* take(source: ChunkStream<T>): AsyncGenerator<T> {
    if (isCancelled) return source.cancel()
    current = source
    try {
      for (let piece = await source.next(); piece !== undefined; piece = await source.next()) yield piece
    } finally {
      source.cancel()
      current = undefined
    }
  }
  const parts = make(take)
  return {
    async next() {
      if (isCancelled) return undefined
      const { done, value } = await parts.next()
      return done === true || isCancelled ? undefined : value
    },
    cancel() {
      if (isCancelled) return
      isCancelled = true
      current?.cancel()
      // Errors of the parts after this are dropped, since nothing awaits them.
      parts.return(undefined).catch(() => {})
    },
  }
}
