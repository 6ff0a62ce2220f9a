import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'

const page = readFileSync('docs/design/consensus.md', 'utf8')
const text = page.slice(page.indexOf('## Files and tests'))
const named = [...text.matchAll(/`([\w/-]+(?:\.test)?\.ts|[\w/-]+\/)`/g)].map(([, name]) => name as string)
const places = (name: string): readonly string[] =>
  name.endsWith('.test.ts') ? [`test/unit/consensus/${name}`, `test/${name}`] : [`src/consensus/${name}`, `src/${name}`]

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.ts'))

/** By its path below the folder, or by a folder that holds it. */
const isNamed = (path: string): boolean => named.includes(path) || named.includes(`${dirname(path)}/`)

describe('docs/design/consensus.md', () => {
  test('names only files that are there', () => {
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(name => !places(name).some(path => existsSync(path)))).toEqual([])
  })

  test('names every file of the engine, and every test of it', () => {
    const files = filesIn('src/consensus')
    // Shapes, ports and small helpers have no rule of their own.
    const plain = /^(types|file-system|new-wal|ports|sign-message)\.ts$/
    expect(files.filter(path => !plain.test(basename(path)) && !isNamed(path))).toEqual([])
    const tests = filesIn('test/unit/consensus').filter(path => path.endsWith('.test.ts'))
    expect(tests.filter(path => basename(path) !== 'rules-table.test.ts' && !isNamed(path))).toEqual([])
  })
})
