import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * Weight of the house: what one engineer has to hold in the head. Bounds stand a little above the figures; a change that needs more says why, and one that
 * needs less lowers it. Imports between floors and of forbidden things are held by architecture.test.ts.
 */

const BOUNDS = { lines: 82_087, files: 737, folders: 120, words: 41_941, pairs: 3 }

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const filesOf = (top: string, ending: string): readonly string[] =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith(ending))
    .sort()
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const sources = filesOf('src', '.ts')
const texts = new Map(sources.map(path => [path, read(`src/${path}`)]))

/** Folder of the second level: `evm/calls` of evm/calls/worker/call-worker.ts, `evm` of evm/engine.ts. */
const folderOf = (path: string): string => dirname(path).split('/').slice(0, 2).join('/')

/** Pairs of such folders whose files import each other. */
const mutualPairs = (files: ReadonlyMap<string, string>): readonly string[] => {
  const imports = new Set<string>()
  for (const [path, text] of files)
    for (const [, target] of text.matchAll(/(?:\bfrom|\bimport\(|\bnew URL\() ?'(\.[^']+\.ts)'/g)) {
      const other = folderOf(join(dirname(path), target as string))
      if (other !== folderOf(path)) imports.add(`${folderOf(path)} ${other}`)
    }
  return [...imports].filter(pair => {
    const [from, to] = pair.split(' ') as [string, string]
    return from < to && imports.has(`${to} ${from}`)
  })
}

const words = filesOf('docs', '.md').reduce((sum, path) => sum + (read(`docs/${path}`).match(/\S+/g) ?? []).length, 0)

test.each([
  ['lines of src', [...texts.values()].reduce((sum, text) => sum + text.split('\n').length - 1, 0), BOUNDS.lines],
  ['files of src', sources.length, BOUNDS.files],
  ['folders of src', new Set(sources.map(path => dirname(path))).size, BOUNDS.folders],
  ['words of docs', words, BOUNDS.words],
  ['pairs of second-level folders that import each other', mutualPairs(texts).length, BOUNDS.pairs],
])('%s: %i, at most %i', (_, figure, bound) => {
  expect(figure).toBeLessThanOrEqual(bound)
})

test('folders that import each other are found, through types, late imports and workers', () => {
  const files = new Map([
    ['evm/calls/a.ts', "import type { X } from '../block/b.ts'\nimport { y } from './local/c.ts'"],
    ['evm/block/b.ts', "const { z } = await import('../calls/a.ts')"],
    ['evm/calls/local/c.ts', "import { x } from '../a.ts'"],
    ['evm/engine.ts', "new URL('./tracers/d.ts', import.meta.url)"],
    ['evm/tracers/d.ts', "import {\n  x,\n} from '../engine.ts'"],
    ['rules/e.ts', "import { x } from '../config/f.ts'"],
  ])
  expect(mutualPairs(files)).toEqual(['evm/block evm/calls', 'evm evm/tracers'])
})
