import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * One word, one meaning: no two files of src export the same name (docs/glossary.md). The list holds those that mean the same thing in
 * another place, with the reason; an entry that is not needed any more fails too.
 */

const EXCEPTIONS: Readonly<Record<string, string>> = {
  // Codecs and schemas of JSON-RPC are named after the argument in the table of methods.
}

const SRC = fileURLToPath(new URL('../../src', import.meta.url))
const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

const exportsByName = (): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const path of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!path.endsWith('.ts') || path.includes('assembly/')) continue
    const names = new Set([...readFileSync(join(SRC, path), 'utf8').matchAll(EXPORT)].map(match => match[1] as string))
    for (const name of names) found.set(name, [...(found.get(name) ?? []), path])
  }
  return found
}

test('no two files of src export the same name', () => {
  const all = exportsByName()
  expect(all.size).toBeGreaterThan(1_000)
  const twice = [...all].filter(([name, paths]) => paths.length > 1 && !(name in EXCEPTIONS))
  expect(twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
})

test('every exception is needed', () => {
  const all = exportsByName()
  expect(Object.keys(EXCEPTIONS).filter(name => (all.get(name) ?? []).length < 2)).toEqual([])
})
