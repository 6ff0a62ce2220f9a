import { isIP } from 'node:net'

/** The name in a Host header, without the port. */
const hostName = (host: string): string => {
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'))
  const colon = host.lastIndexOf(':')
  return (colon === -1 ? host : host.slice(0, colon)).toLowerCase()
}

/** Whether a Host header is on the list; addresses and localhost always are, since only other names can be rebound (DNS rebinding). */
export const hostAllowed = (hosts: readonly string[], header: string | undefined): boolean => {
  if (header === undefined || hosts.includes('*')) return true
  const name = hostName(header)
  return isIP(name) !== 0 || name === 'localhost' || hosts.includes(name)
}

const LOCAL = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Whether a page of this origin may open a WebSocket: on the list, `*`, not a browser, or local when there is no list. */
export const originAllowed = (origins: readonly string[], origin: string | undefined): boolean =>
  origin === undefined ||
  origins.includes('*') ||
  origins.includes(origin) ||
  (origins.length === 0 && LOCAL.test(origin))
