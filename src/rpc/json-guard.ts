import { LIMITS } from '../config/limits.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/**
 * Whether a large body holds more nesting or more containers than any honest request: building millions of empty
 * arrays would stop the main thread. Small bodies cannot hurt and are not looked at.
 */
export const isTooComplex = (body: string): boolean => {
  if (body.length <= LIMITS.rpc.unscannedBytes) return false
  let depth = 0
  let containers = 0
  for (let i = 0; i < body.length; i++) {
    const code = body.charCodeAt(i)
    if (code === QUOTE) i = endOfString(body, i)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++depth > LIMITS.rpc.nesting || ++containers > LIMITS.rpc.containers) return true
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
  }
  return false
}

/** Index of the closing quote, or the last index of the text. */
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

/** JSON.parse with source text access (ES2026): the reviver's third argument. */
type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown

/** The ids of a request, or of each request of a batch, as they were written; undefined where an id is no number. */
export const sourceOfIds = (body: string): (string | undefined)[] => {
  const sources = new Map<unknown, string>()
  const reviver: Reviver = function (key, value, context) {
    if (key === 'id' && typeof value === 'number' && context.source !== undefined) sources.set(this, context.source)
    return value
  }
  const request: unknown = JSON.parse(body, reviver as (key: string, value: unknown) => unknown)
  return (Array.isArray(request) ? request : [request]).map(item => sources.get(item))
}
