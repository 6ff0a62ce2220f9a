import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'

/** One change to a source. */
export interface Patch {
  /** Below `src`. */
  readonly file: string
  /** Must stand in the file exactly once, or the patch is out of date. */
  readonly find: string
  readonly replace: string
}

const SRC = new URL('../../src/', import.meta.url)

/** Puts the patches into what this thread loads from here on. Throws when the file of one is gone, and at the load when one does not fit. */
export const applyPatches = (patches: readonly Patch[]): void => {
  const urls = new Map(patches.map(patch => [patch, new URL(patch.file, SRC)]))
  for (const url of urls.values()) if (!existsSync(url)) throw new Error(`${url.href} is gone`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const meant = patches.filter(patch => url === urls.get(patch)?.href)
      if (meant.length === 0) return loaded
      return { ...loaded, source: meant.reduce(patched, String(loaded.source)) }
    },
  })
}

const patched = (source: string, { file, find, replace }: Patch): string => {
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold, or holds twice: ${find}`)
  return source.replace(find, () => replace)
}
