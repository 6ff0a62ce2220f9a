import { LIMITS } from '../config/limits.ts'
import { hostAllowed } from './access.ts'

const REQUEST_LINE = 'POST / HTTP/1.1'
/** RFC 9110 5.5: a token, a colon, and a value without control characters. */
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e\x80-\xff\t]*)$/
const JSON_TYPE = /^application\/json(?:-rpc)?[ \t]*(?:;|$)/i
const DIGITS = /^[0-9]{1,8}$/

/** Fields that ask for something a plain call does not need: the full HTTP server decides on them. */
const OTHERS = new Set(['transfer-encoding', 'upgrade', 'expect', 'origin', 'content-encoding', 'trailer', 'te'])

/**
 * The length of the body behind the head of a plain call: POST to `/` with JSON, a known length, and nothing that would need
 * a decision, a Host that is not on the list included. undefined for everything else, and for whatever two readers of HTTP could understand differently.
 */
export const plainCallLength = (head: string, allowedHosts: readonly string[]): number | undefined => {
  const lines = head.split('\r\n')
  if (lines[0] !== REQUEST_LINE) return undefined
  let length: number | undefined
  let hosts = 0
  let isJson = false
  for (let i = 1; i < lines.length; i++) {
    const field = FIELD.exec(lines[i] ?? '')
    if (field === null) return undefined
    const name = (field[1] ?? '').toLowerCase()
    const value = (field[2] ?? '').trimEnd()
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
