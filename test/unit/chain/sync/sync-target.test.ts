import { expect, test } from 'vitest'
import { provenHead, syncTarget } from '../../../../src/chain/sync/sync-target.ts'

test.each([
  ['nobody', [], 10, 10],
  ['nobody ahead', [3, 10], 10, 10],
  ['one ahead of many that are behind', [0, 0, 0, 50], 10, 50],
  ['two', [20, 21], 10, 20],
  ['one that boasts among honest ones', [100, 101, 1e9], 10, 101],
])('target: %s', (_, claims, head, target) => {
  expect(syncTarget(claims, head)).toBe(target)
})

test.each<[string, readonly number[], readonly number[], number, number | undefined]>([
  ['none is known', [], [], 7, undefined],
  ['members count alone', [8, 8, 9], [1_000_000_000, 1_000_000_000], 7, 8],
  ['one member of four lies', [8, 8, 8, 1_000_000_000], [], 8, 8],
  ['one peer of three that delivered lies', [], [8, 9, 1_000_000_000], 8, 9],
  ['all are behind', [], [3, 4], 8, 8],
])('proven head: %s', (_, trusted, delivered, head, proven) => {
  expect(provenHead(trusted, delivered, head)).toBe(proven)
})
