import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const text = readFileSync('docs/consensus.md', 'utf8')
const named = [...text.matchAll(/`([\w/-]+(?:\.test)?\.ts|[\w-]+\/)`/g)].map(([, name]) => name as string)
const places = (name: string): readonly string[] =>
  name.endsWith('.test.ts') ? [`test/unit/consensus/${name}`, `test/${name}`] : [`src/consensus/${name}`, `src/${name}`]

describe('docs/consensus.md', () => {
  test('names only files that are there', () => {
    expect(named.length).toBeGreaterThan(80)
    expect(named.filter(name => !places(name).some(path => existsSync(path)))).toEqual([])
  })

  test('names every file of the engine, and every test of it', () => {
    const files = readdirSync('src/consensus').filter(name => name.endsWith('.ts'))
    // Shapes, ports and small helpers have no rule of their own.
    const plain = /^(core|engine-types|files|new-log|ports|signing)\.ts$/
    expect(files.filter(name => !plain.test(name) && !named.includes(name))).toEqual([])
    const tests = readdirSync('test/unit/consensus').filter(name => name.endsWith('.test.ts'))
    expect(tests.filter(name => name !== 'rules-table.test.ts' && !named.includes(name))).toEqual([])
  })
})
