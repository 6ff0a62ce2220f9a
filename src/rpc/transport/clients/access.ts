import { isIP } from 'node:net'

/** Which names and web pages a port serves. */
export interface AccessRules {
  /** Accepted names in the Host header, or `*`. */
  readonly hosts: readonly string[]
  /** Origins of web pages that may read responses; `localhost` for every page of this machine, `*` for any. */
  readonly cors: readonly string[]
  /** Refuses calls of web pages whose origin is neither listed nor local; otherwise only the response is withheld from the page. */
  readonly checkOrigin: boolean
}

/** Verbs of the port. */
export const VERBS = 'GET, HEAD, POST, OPTIONS'

/** Returns the name in a Host header, without the port. */
const hostName = (host: string): string => {
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'))
  const colon = host.lastIndexOf(':')
  return (colon === -1 ? host : host.slice(0, colon)).toLowerCase()
}

/** Returns true for a Host header on the list, and for addresses and localhost, which cannot be rebound (DNS rebinding). */
export const hostAllowed = (hosts: readonly string[], header: string | undefined): boolean => {
  if (header === undefined || hosts.includes('*')) return true
  const name = hostName(header)
  return isIP(name) !== 0 || name === 'localhost' || hosts.includes(name)
}

const LOCAL = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Returns true when a list of origins names this one. */
const isListed = (origins: readonly string[], origin: string): boolean =>
  origins.includes('*') || origins.includes(origin) || (origins.includes('localhost') && LOCAL.test(origin))

/** Returns true when an origin may open a WebSocket: it is listed, no browser's, or local where there is no list. */
export const originAllowed = (origins: readonly string[], origin: string | undefined): boolean =>
  origin === undefined || isListed(origins, origin) || (origins.length === 0 && LOCAL.test(origin))

const PREFLIGHT_FIELDS = {
  'access-control-allow-methods': VERBS,
  // Keys and tokens are fields that a page sets itself, never ones that a browser adds.
  'access-control-allow-headers': 'content-type, authorization, x-api-key',
  'access-control-max-age': '600',
}
const NO_FIELDS = {}

/** Returns the fields of a response that let a page of this origin read it; none where the origin is not on the list. */
export const corsFields = (
  origins: readonly string[],
  origin: string | undefined,
  isPreflight: boolean,
): Readonly<Record<string, string>> => {
  if (origin === undefined || !isListed(origins, origin)) return NO_FIELDS
  return {
    'access-control-allow-origin': origins.includes('*') ? '*' : origin,
    vary: 'origin',
    ...(isPreflight && PREFLIGHT_FIELDS),
  }
}
