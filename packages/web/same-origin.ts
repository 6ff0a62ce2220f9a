import type { IncomingHttpHeaders } from 'node:http'

/** Returns false for a form that another web site posts: browsers tell where it comes from, other clients tell nothing. */
export const isSameOrigin = (headers: IncomingHttpHeaders): boolean => {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const { origin, host } = headers
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}
