/** Something read piece by piece by one reader, who can give up at any moment. */
export interface ChunkStream<T> {
  /** The next piece; undefined at the end, and after `cancel`. Asked for one at a time. Throws when the source fails. */
  next(): Promise<T | undefined>
  /** Nobody reads any more; what is being waited for ends. Harmless when it has ended. */
  cancel(): void
}

/** A stream that broke within a value: nothing that could follow would make sense of what was read. */
export class StreamBroken extends Error {
  override readonly name = 'CutShort'
}

/** Reads other streams within the parts of `compose`. */
export type ReadSource<T> = (source: ChunkStream<T>) => AsyncGenerator<T>

/**
 * A stream of parts, some of them streams. `make` is a generator; what it reads of other streams it reads by `readSource`, so that a
 * cancel reaches the stream that is being waited for.
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
      // Whatever the parts still throw, nobody waits for it.
      parts.return(undefined).catch(() => {})
    },
  }
}
