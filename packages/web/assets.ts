import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { readOwnFile } from '@tandem/base/own-files.ts'
import { ASSETS_PATH } from './negotiation.ts'

/** File of a page. The path has a hash of the content, so a copy never grows old. */
export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: Buffer
  /** Compressed at the first use. */
  readonly gzip: () => Buffer
}

const HASH_CHARS = 10

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const

const BY_PATH = new Map<string, Asset>()

/** Loads an asset from a folder, to be served below a path of this server. */
export const loadAsset = (
  folder: URL,
  name: string,
  extension: keyof typeof TYPES,
  below: string = ASSETS_PATH,
): Asset => {
  const body = readOwnFile(new URL(`${name}.${extension}`, folder))
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_CHARS)
  let packed: Buffer | undefined
  const asset: Asset = {
    path: `${below}/${name}.${hash}.${extension}`,
    type: TYPES[extension],
    body,
    gzip: () => {
      packed ??= gzipSync(body, { level: 9 })
      return packed
    },
  }
  BY_PATH.set(asset.path, asset)
  return asset
}

const OWN = new URL('./assets/', import.meta.url)
export const STYLE_SHEET = loadAsset(OWN, 'style', 'css')
export const SCRIPT = loadAsset(OWN, 'script', 'js')
export const ICON = loadAsset(OWN, 'icon', 'svg')

/** undefined: there is none at this path, or another version of it. */
export const assetAt = (path: string): Asset | undefined => BY_PATH.get(path)
