import { LIMITS } from '../../config/limits.ts'
import { hostAllowed } from './access.ts'

const REQUEST_LINE = 'POST / HTTP/1.1'
const JSON_TYPE = /^application\/json(?:-rpc)?[ \t]*(?:;|$)/i
const DIGITS = /^[0-9]{1,8}$/

const TAB = 9
const SPACE = 32
const COLON = 58
const DELETE = 127

/** 1 for each character of a field's name (RFC 9110 5.6.2). */
const TOKEN = new Uint8Array(256)
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  TOKEN[character.charCodeAt(0)] = 1

/** Fields that ask for something a plain call does not need: the full HTTP server decides on them. */
const OTHERS = new Set(['transfer-encoding', 'upgrade', 'expect', 'origin', 'content-encoding', 'trailer', 'te'])

/** Index of the colon behind a field's name; undefined when the name is empty or no token. */
const endOfName = (line: string): number | undefined => {
  let at = 0
  while (TOKEN[line.charCodeAt(at)] === 1) at++
  return at > 0 && line.charCodeAt(at) === COLON ? at : undefined
}

/** Whether the rest of a line may stand in a field's value (RFC 9110 5.5): no control character but the tab. */
const isFieldValue = (line: string, from: number): boolean => {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if ((code < SPACE && code !== TAB) || code === DELETE) return false
  }
  return true
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB

/** The value behind the colon, without the blanks around it. */
const valueFrom = (line: string, from: number): string => {
  let start = from
  let end = line.length
  while (start < end && isBlank(line.charCodeAt(start))) start++
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--
  return line.slice(start, end)
}

/**
 * The length of the body behind the head of a plain call: POST to `/` with JSON, a known length, and nothing that would need
 * a decision, a Host that is not on the list included. undefined for everything else, and for whatever two readers of HTTP could
 * understand differently. Each character is looked at a fixed number of times.
 */
export const plainCallLength = (head: string, allowedHosts: readonly string[]): number | undefined => {
  const lines = head.split('\r\n')
  if (lines[0] !== REQUEST_LINE) return undefined
  let length: number | undefined
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
    }
  }
  return hosts === 1 && isJson && length !== undefined && length <= LIMITS.rpc.bodyBytes ? length : undefined
}
