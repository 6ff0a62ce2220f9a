import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { hostAllowed } from '../clients/access.ts'

const CALL_LINE = 'POST / HTTP/1.1'
const PREFLIGHT_LINE = 'OPTIONS / HTTP/1.1'
const JSON_TYPE = /^application\/json(?:-rpc)?[ \t]*(?:;|$)/i
const DIGITS = /^[0-9]{1,8}$/
const VISIBLE = /^[\x21-\x7e]*$/

const TAB = 9
const SPACE = 32
const COLON = 58
const DELETE = 127

/** 1 for each character allowed in a field name (RFC 9110 5.6.2). */
const TOKEN = new Uint8Array(256)
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  TOKEN[character.charCodeAt(0)] = 1

/** Fields that a plain call does not need: the full HTTP server handles them. */
const OTHERS = new Set(['transfer-encoding', 'upgrade', 'expect', 'content-encoding', 'trailer', 'te'])

/** Returns the index of the colon after a field name; undefined when the name is empty or not a token. */
const endOfName = (line: string): number | undefined => {
  let at = 0
  while (TOKEN[line.charCodeAt(at)] === 1) at++
  return at > 0 && line.charCodeAt(at) === COLON ? at : undefined
}

/** Returns true when the rest of a line is a valid field value (RFC 9110 5.5): no control character but the tab. */
const isFieldValue = (line: string, from: number): boolean => {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if ((code < SPACE && code !== TAB) || code === DELETE) return false
  }
  return true
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB

/** Returns the value after the colon, without surrounding blanks. */
const valueFrom = (line: string, from: number): string => {
  let start = from
  let end = line.length
  while (start < end && isBlank(line.charCodeAt(start))) start++
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--
  return line.slice(start, end)
}

/** Fields that tell the client of a call. */
const ORIGIN_FIELDS = new Set(['x-forwarded-for', 'forwarded', 'x-api-key', 'authorization'])
/** `node:http` drops the fields beyond its limit, the first of which is above this one. */
const MOST_FIELDS = 256

/** Head of a plain call. */
export interface PlainHead {
  /** OPTIONS: a browser asks whether a page may call. */
  readonly isPreflight: boolean
  /** Length of the body. */
  readonly length: number
  /** Origin of the page that calls. */
  readonly origin: string | undefined
  /** Fields that tell the client, by lower-case name, each of which came at most once. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Reads the head of a plain call: POST to `/` with JSON, a known length, and nothing that needs a decision, such as a Host that is not on
 * the list; or of its preflight, OPTIONS without a body. undefined for everything else, and for any head that two HTTP parsers could
 * understand differently, such as one that repeats a field which tells the client. Each character is scanned a fixed number of times.
 */
export const readPlainHead = (head: string, allowedHosts: readonly string[]): PlainHead | undefined => {
  const lines = head.split('\r\n')
  const isPreflight = lines[0] === PREFLIGHT_LINE
  if ((lines[0] !== CALL_LINE && !isPreflight) || lines.length > MOST_FIELDS) return undefined
  const headers: Record<string, string> = {}
  let length: number | undefined
  let origin: string | undefined
  let hosts = 0
  let isJson = false
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string
    const colon = endOfName(line)
    if (colon === undefined || !isFieldValue(line, colon + 1)) return undefined
    const name = line.slice(0, colon).toLowerCase()
    const value = valueFrom(line, colon + 1)
    if (OTHERS.has(name)) return undefined
    if (name === 'host') {
      if (!hostAllowed(allowedHosts, value)) return undefined
      hosts++
    } else if (name === 'connection') {
      if (value.toLowerCase() !== 'keep-alive') return undefined
    } else if (name === 'content-type') {
      if (isJson || !JSON_TYPE.test(value)) return undefined
      isJson = true
    } else if (name === 'content-length') {
      if (length !== undefined || !DIGITS.test(value)) return undefined
      length = Number(value)
    } else if (name === 'origin') {
      if (origin !== undefined || !VISIBLE.test(value)) return undefined
      origin = value
    } else if (ORIGIN_FIELDS.has(name)) {
      if (name in headers) return undefined
      headers[name] = value
    }
  }
  if (hosts !== 1) return undefined
  if (isPreflight) return isJson || length !== undefined ? undefined : { isPreflight, length: 0, origin, headers }
  if (!isJson || length === undefined || length > RPC_LIMITS.bodyBytes) return undefined
  return { isPreflight, length, origin, headers }
}
