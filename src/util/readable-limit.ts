import type { Readable } from 'node:stream'

/**
 * Changes the number of bytes from which on a stream reads no more, which Node lets be chosen only when a stream is made. The one place that
 * touches this private part of Node.js; test/unit/util/readable-limit.test.ts fails when it moves, and then this does nothing.
 */
export const setReadableLimit = (stream: Readable, bytes: number): void => {
  const { _readableState: state } = stream as { readonly _readableState?: { highWaterMark: number } }
  if (state !== undefined) state.highWaterMark = bytes
}
