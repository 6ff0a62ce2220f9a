import { gzipSync } from 'node:zlib'
import { type Asset, assetAt } from './assets.ts'
import { acceptsGzip, type HeaderValue } from './negotiation.ts'

export interface WebResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** No script, style or frame of another origin, and none inside the page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const COMMON = { 'x-content-type-options': 'nosniff', vary: 'accept-encoding' }

const PAGE_HEADERS = {
  ...COMMON,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/** Smaller bodies are not worth compressing. */
const GZIP_BYTES = 1_024

interface PageResponseOptions {
  readonly status?: number
  readonly acceptEncoding: HeaderValue
  readonly cacheControl: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Response with a text, compressed where that is worth it and the client takes it. */
const textResponse = (
  text: string,
  acceptEncoding: HeaderValue,
  status: number,
  headers: Readonly<Record<string, string>>,
): WebResponse => {
  const body = Buffer.from(text)
  const isPacked = body.byteLength >= GZIP_BYTES && acceptsGzip(acceptEncoding)
  return {
    status,
    headers: isPacked ? { ...headers, 'content-encoding': 'gzip' } : headers,
    body: isPacked ? gzipSync(body, { level: 6 }) : body,
  }
}

/** Response with a page and the headers that every page has. */
export const pageResponse = (
  page: string,
  { status = 200, acceptEncoding, cacheControl, headers = {} }: PageResponseOptions,
): WebResponse =>
  textResponse(page, acceptEncoding, status, { ...PAGE_HEADERS, 'cache-control': cacheControl, ...headers })

interface FileResponseOptions {
  /** Name under which it is saved: letters, digits, dashes and points. */
  readonly file: string
  readonly type: string
  readonly acceptEncoding: HeaderValue
}

/** Response with a text that is saved as a file. */
export const fileResponse = (text: string, { file, type, acceptEncoding }: FileResponseOptions): WebResponse =>
  textResponse(text, acceptEncoding, 200, {
    ...COMMON,
    'content-type': type,
    'content-disposition': `attachment; filename="${file}"`,
    'cache-control': 'no-store',
  })

const FOREVER = 'public, max-age=31536000, immutable'

/** Response with an asset; undefined: there is none at the path. */
export const assetResponse = (path: string, acceptEncoding: HeaderValue): WebResponse | undefined => {
  const asset: Asset | undefined = assetAt(path)
  if (asset === undefined) return undefined
  const isPacked = acceptsGzip(acceptEncoding)
  return {
    status: 200,
    headers: {
      ...COMMON,
      'content-type': asset.type,
      'cache-control': FOREVER,
      ...(isPacked && { 'content-encoding': 'gzip' }),
    },
    body: isPacked ? asset.gzip() : asset.body,
  }
}
