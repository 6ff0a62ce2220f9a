import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * One word, one meaning: no two files of a program export the same name (docs/glossary.md). The node (with devtools) and the explorer are
 * programs of their own over the same packages. The list holds names that mean the same thing in another place, with the reason; an entry that is not needed any
 * more fails too.
 */

const EXCEPTIONS: Readonly<Record<string, string>> = {
  // Codecs and schemas of JSON-RPC are named after the argument in the table of methods.
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Words of every source file outside `assembly` folders, by path below the root. */
const wordsByPath = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, ReadonlySet<string>>()
  for (const folder of ['src', 'packages', 'devtools', 'test', 'bench', 'scripts'])
    for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }))
      if (/\.m?ts$/.test(path) && !path.includes('assembly/') && !path.includes('node_modules'))
        found.set(join(folder, path), new Set(readFileSync(join(ROOT, folder, path), 'utf8').match(/\w+/g)))
  return found
}

const exportsByName = (): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const top of ['src', 'packages', 'devtools'])
    for (const path of readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!path.endsWith('.ts') || /assembly\/|node_modules\//.test(path)) continue
      const text = readFileSync(join(ROOT, top, path), 'utf8')
      const names = new Set([...text.matchAll(EXPORT)].map(match => match[1] as string))
      for (const name of names) found.set(name, [...(found.get(name) ?? []), path])
    }
  return found
}

const EXPLORER = /^explorer\//
const SHARED = /^(base|web)\//

test.each([
  ['node', (path: string) => !EXPLORER.test(path)],
  ['explorer', (path: string) => EXPLORER.test(path) || SHARED.test(path)],
])('no two files of the %s export the same name', (_, isOwn) => {
  const own = [...exportsByName()].map(([name, paths]) => [name, paths.filter(isOwn)] as const)
  expect(own.filter(([, paths]) => paths.length > 0).length).toBeGreaterThan(300)
  const twice = own.filter(([name, paths]) => paths.length > 1 && !(name in EXCEPTIONS))
  expect(twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
})

test('every exception is needed', () => {
  const all = exportsByName()
  expect(Object.keys(EXCEPTIONS).filter(name => (all.get(name) ?? []).length < 2)).toEqual([])
})

test('every export of src is used in another file; otherwise drop the word `export`', () => {
  const files = new Map<string, number>()
  for (const words of wordsByPath().values()) for (const word of words) files.set(word, (files.get(word) ?? 0) + 1)
  expect(files.size).toBeGreaterThan(10_000)
  const local = [...exportsByName()].filter(([name]) => files.get(name) === 1)
  expect(local.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
})
