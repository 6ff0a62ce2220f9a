import { closeSync, openSync, readSync } from 'node:fs'

const FIRST_BYTES = 64 * 1024

/**
 * Reads a file, pipe or device of at most `limit` bytes; throws an Error with its name when there is more. Those that are no files have
 * no known size, or no end.
 */
export const readLimited = (path: string, limit: number): Buffer => {
  const descriptor = openSync(path, 'r')
  try {
    let buffer = Buffer.alloc(Math.min(FIRST_BYTES, limit + 1))
    let size = 0
    for (;;) {
      const got = readSync(descriptor, buffer, size, buffer.byteLength - size, null)
      size += got
      if (size > limit) throw new Error(`${path} has more than the ${limit} bytes that are taken.`)
      if (got === 0) return buffer.subarray(0, size)
      if (size === buffer.byteLength) buffer = Buffer.concat([buffer], Math.min(2 * buffer.byteLength, limit + 1))
    }
  } finally {
    closeSync(descriptor)
  }
}
