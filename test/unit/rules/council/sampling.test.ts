import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultsOf, toleratedFaults } from '../../../../src/rules/council/quorum.ts'
import { hypergeometricTail, samplingTable } from './sampling.ts'

test('the table of docs/design/council.md is what the hypergeometric distribution says', () => {
  const page = readFileSync(new URL('../../../../docs/design/council.md', import.meta.url), 'utf8')
  expect(page).toContain(samplingTable().join('\n'))
})

test('a council whose members all serve tolerates f of them', () => {
  for (let members = 1; members <= 31; members++) expect(toleratedFaults(members, 31)).toBe(faultsOf(members))
  expect(toleratedFaults(100, 128)).toBe(33)
})

test.each([
  [32, 31],
  [40, 31],
  [64, 31],
  [100, 31],
  [200, 31],
  [256, 31],
  [256, 128],
])(
  'a council of %i tolerates, in samples of %i, as many faulty members as fail it once in a million cycles at most',
  (members, size) => {
    const tolerated = toleratedFaults(members, size)
    const tooMany = (faulty: number) => hypergeometricTail(members, faulty, size, faultsOf(size) + 1)
    expect(tooMany(tolerated)).toBeLessThanOrEqual(1e-6)
    expect(tooMany(tolerated + 1)).toBeGreaterThan(1e-6)
  },
)

test('larger councils tolerate a smaller share', () => {
  expect([31, 40, 64, 100, 200, 256].map(members => toleratedFaults(members, 31))).toEqual([10, 10, 10, 11, 16, 19])
})
