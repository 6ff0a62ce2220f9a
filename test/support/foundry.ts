import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface Foundry {
  readonly forge: string
  readonly cast: string
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * forge and cast of this platform from the npm packages, or why there are none. The packages' own binaries: their shims end
 * with status 0 when the binary fails.
 */
export const findFoundry = (): { readonly found: Foundry } | { readonly missing: string } => {
  const platform = `${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`
  const paths: Partial<Record<keyof Foundry, string>> = {}
  for (const tool of ['forge', 'cast'] as const) {
    const name = `@foundry-rs/${tool}-${platform}`
    const path = binaryOf(name, process.platform === 'win32' ? `${tool}.exe` : tool)
    if (path === undefined) return { missing: `${name} is not installed` }
    paths[tool] = path
  }
  return { found: paths as Foundry }
}

const binaryOf = (name: string, binary: string): string | undefined => {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders
    .map(folder => join(folder, name, 'bin', binary))
    .find(path => existsSync(dirname(path)) && existsSync(path))
}
