import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/* What the start of a development chain loads: everything else comes with its first use. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const IMPORT = /^(?:import|export) (?!type )(?:[^'"]*? from )?'([^']+)'/gm

/** Files and packages that files load at once, by the imports that are not of types alone. */
const loadedBy = (entries: readonly string[]): ReadonlySet<string> => {
  const loaded = new Set<string>()
  const load = (name: string, from: string): void => {
    const path = name.startsWith('.') ? join(dirname(from), name) : name.replace(/^@tandem\//, 'packages/')
    if (loaded.has(path)) return
    loaded.add(path)
    if (!/^(?:src|packages)\/.*\.ts$/.test(path)) return
    for (const [, next = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(IMPORT)) load(next, path)
  }
  for (const entry of entries) load(entry, '')
  return loaded
}

test('a development chain starts with few packages, and without what serves pages, peers and other commands', () => {
  const loaded = loadedBy(['src/cli/main.ts', 'src/cli/devnet/run.ts', 'src/node/stages/servers.ts'])
  expect(loaded.size).toBeGreaterThan(200)
  const packages = [...loaded].filter(name => !/^(?:src|packages|node:)|\.json$/.test(name))
  expect(packages.sort()).toEqual(['@fastify/proxy-addr', 'commander', 'forwarded-parse'])
  const others = ['node:https', 'node:http2', 'node:sqlite']
  expect([...loaded].filter(name => others.includes(name))).toEqual([])
  expect([...loaded].filter(name => /node-peers|gossip|snapshot-parts|routes\.ts$|explorer\.ts$/.test(name))).toEqual(
    [],
  )
})
