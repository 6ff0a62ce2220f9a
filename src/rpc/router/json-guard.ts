import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const COMMA = 44
const COLON = 58
const MINUS = 45

/** Characters scanned between two looks at the clock. */
const PART_CHARS = 32 * 1024

/** Finds out whether a large body has more nesting or values than an honest request: building them would block the main thread. */
export function* scanShape(body: string): SlicedWork<boolean> {
  if (body.length <= RPC_LIMITS.unscannedBytes) return false
  let depth = 0
  let containers = 0
  let values = 0
  let pauseAt = PART_CHARS
  for (let i = 0; i < body.length; i++) {
    const code = body.charCodeAt(i)
    if (code === QUOTE) i = endOfString(body, i)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > RPC_LIMITS.nesting || ++containers > RPC_LIMITS.containers) return true
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (code === COMMA && ++values > RPC_LIMITS.values) return true
    if (i < pauseAt) continue
    pauseAt = i + PART_CHARS
    yield
  }
  return false
}

/** Returns the index of the closing quote, or the last index of the text. */
const endOfString = (body: string, start: number): number => {
  let end = body.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(body, end)) end = body.indexOf('"', end + 1)
  return end === -1 ? body.length : end
}

const isEscaped = (body: string, at: number): boolean => {
  let slashes = 0
  while (body.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
  return slashes % 2 === 1
}

const skipSpace = (body: string, from: number): number => {
  let at = from
  while (at < body.length && body.charCodeAt(at) <= 32) at++
  return at
}

const NUMBER_CHARACTERS: ReadonlySet<number> = new Set(Buffer.from('0123456789.eE+-'))

/** Returns the source text of the number at this index; undefined for any other value. */
const numberAt = (body: string, start: number): string | undefined => {
  const first = body.charCodeAt(start)
  if (first !== MINUS && (first < 48 || first > 57)) return undefined
  // A longer one is too long for an id all the same.
  const limit = Math.min(body.length, start + RPC_LIMITS.idChars + 1)
  let end = start + 1
  while (end < limit && NUMBER_CHARACTERS.has(body.charCodeAt(end))) end++
  return body.slice(start, end)
}

/** Longest encoding of "id": every letter as an escape. */
const ID_KEY_LENGTH = 14

const isId = (key: string): boolean => key.length <= ID_KEY_LENGTH && JSON.parse(key) === 'id'

/**
 * Returns the source text of the id of a request, or of each request of a batch; undefined where an id is not a number. The body
 * is known to be valid JSON. This is a scan, since a JSON.parse reviver would be called for each value of the body, which takes
 * seconds for a large one.
 */
export const idsAsWritten = (body: string): (string | undefined)[] => {
  const sources: (string | undefined)[] = []
  const requestDepth = body.charCodeAt(skipSpace(body, 0)) === OPEN_ARRAY ? 2 : 1
  let depth = 0
  let index = 0
  for (let i = 0; i < body.length; i++) {
    const code = body.charCodeAt(i)
    if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (code === COMMA && depth === requestDepth - 1) index++
    else if (code === QUOTE) {
      const end = endOfString(body, i)
      const colon = skipSpace(body, end + 1)
      // Of duplicate members the last one counts, as for JSON.parse.
      if (depth === requestDepth && body.charCodeAt(colon) === COLON && isId(body.slice(i, end + 1)))
        sources[index] = numberAt(body, skipSpace(body, colon + 1))
      i = end
    }
  }
  return sources
}
