import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { ASSETS_PATH } from './negotiation.ts'

/** Files of every page. The path has a hash of the content, so a copy never grows old. */
export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
  /** Compressed at the first use. */
  readonly gzip: () => Buffer
}

const HASH_CHARS = 10

const load = (name: string, extension: string, type: string): Asset => {
  const body = readFileSync(new URL(`./assets/${name}.${extension}`, import.meta.url))
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARS)
  let packed: Buffer | undefined
  return {
    path: `${ASSETS_PATH}/${name}.${hash}.${extension}`,
    type,
    body,
    gzip: () => {
      packed ??= gzipSync(body, { level: 9 })
      return packed
    },
  }
}

export const STYLE_SHEET = load('style', 'css', 'text/css; charset=utf-8')
export const SCRIPT = load('script', 'js', 'text/javascript; charset=utf-8')
/** Script of the faucet's page, and worker of its proof of work. */
export const FAUCET_SCRIPT = load('faucet', 'js', 'text/javascript; charset=utf-8')
/** Script of pages that ask a wallet of the browser. */
export const WALLET_SCRIPT = load('wallet', 'js', 'text/javascript; charset=utf-8')
export const ICON = load('icon', 'svg', 'image/svg+xml')

const BY_PATH: ReadonlyMap<string, Asset> = new Map(
  [STYLE_SHEET, SCRIPT, FAUCET_SCRIPT, WALLET_SCRIPT, ICON].map(asset => [asset.path, asset]),
)

/** undefined: there is none at this path, or another version of it. */
export const assetAt = (path: string): Asset | undefined => BY_PATH.get(path)
