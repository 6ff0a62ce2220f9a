import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface Foundry {
  readonly forge: string
  readonly cast: string
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

type Found<T> = { readonly found: T } | { readonly missing: string }

/** forge and cast of this platform, or why there are none. */
export const findFoundry = (): Found<Foundry> => findTools(['forge', 'cast'])

/** anvil of this platform, or why there is none. */
export const findAnvil = (): Found<{ readonly anvil: string }> => findTools(['anvil'])

/** Tools from the npm packages. The packages' own binaries: their shims end with status 0 when the binary fails. */
const findTools = <Tool extends string>(tools: readonly Tool[]): Found<Readonly<Record<Tool, string>>> => {
  const platform = `${process.platform}-${ARCHITECTURES[process.arch] ?? process.arch}`
  const paths: Partial<Record<Tool, string>> = {}
  for (const tool of tools) {
    const name = `@foundry-rs/${tool}-${platform}`
    const path = binaryOf(name, process.platform === 'win32' ? `${tool}.exe` : tool)
    if (path === undefined) return { missing: `${name} is not installed` }
    paths[tool] = path
  }
  return { found: paths as Readonly<Record<Tool, string>> }
}

const binaryOf = (name: string, binary: string): string | undefined => {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders
    .map(folder => join(folder, name, 'bin', binary))
    .find(path => existsSync(dirname(path)) && existsSync(path))
}
