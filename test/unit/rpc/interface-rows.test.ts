import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { METHODS } from '../../../src/rpc/methods/methods.ts'
import { CHECKS, checkOf } from '../../conformance/interface/checks/all.ts'
import { interfaceRows } from '../../conformance/interface/rows.ts'
import { ROOT } from '../../support/node-process.ts'

const rows = interfaceRows()
const TABLES = ['Standard methods', 'Native methods', 'Further methods', 'Authentication']

/** Names of methods in the rows; one that ends in `*` stands for its namespace. */
const named = rows.filter(({ section }) => TABLES.includes(section)).map(({ key }) => key)
const hasRow = (name: string): boolean =>
  named.some(row => (row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : row === name))

describe('docs/interface.md', () => {
  test('has rows', () => {
    expect(rows.length).toBeGreaterThan(250)
  })
  test('has a check for every row', () => {
    expect(rows.filter(row => checkOf(row) === undefined).map(({ section, key }) => `${section}: ${key}`)).toEqual([])
  })
  test('has a row for every check', () => {
    const without = Object.entries(CHECKS).flatMap(([section, checks]) =>
      Object.keys(checks).filter(key => key !== '*' && !rows.some(row => row.section === section && row.key === key)),
    )
    expect(without).toEqual([])
    expect(Object.keys(CHECKS).filter(section => !rows.some(row => row.section === section))).toEqual([])
  })
  test('has a row for every method, under its eth name where it has two', () => {
    const twinOf = (name: string) => name.replace('native_', 'eth_')
    const without = Object.entries(METHODS).filter(
      ([name, { handler }]) => !hasRow(name) && !(METHODS[twinOf(name)]?.handler === handler && hasRow(twinOf(name))),
    )
    expect(without.map(([name]) => name)).toEqual([])
  })
  test('names no method that there is not', () => {
    const known = Object.keys(METHODS)
    expect(
      named.filter(row => !known.some(name => (row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : row === name))),
    ).toEqual([])
  })
  test('names as parameters what the methods declare', () => {
    const differing = rows.filter(({ cells, key }) => {
      if (cells['params'] === undefined) return false
      const listed = cells['params'].split(', ').filter(name => name !== '')
      const declared = METHODS[key]?.params ?? []
      const required = declared.filter(({ optional }) => !optional).length
      return listed.length > declared.length || listed.filter(name => !name.endsWith('?')).length !== required
    })
    expect(differing.map(({ key }) => key)).toEqual([])
  })
  test('names files that there are', () => {
    const files = rows.flatMap(({ cells }) =>
      [...(cells['implemented by'] ?? '').matchAll(/`([\w./-]+\/[\w./-]+)`/g)].map(([, file]) => file as string),
    )
    expect(files.length).toBeGreaterThan(80)
    expect(
      [...new Set(files)].filter(file => !['src', 'packages'].some(top => existsSync(`${ROOT}/${top}/${file}`))),
    ).toEqual([])
  })
})
