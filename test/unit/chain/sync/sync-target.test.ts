import { expect, test } from 'vitest'
import { syncTarget } from '../../../../src/chain/sync/sync-target.ts'

test.each([
  ['nobody', [], 10, 10],
  ['nobody ahead', [3, 10], 10, 10],
  ['one ahead of many that are behind', [0, 0, 0, 50], 10, 50],
  ['two', [20, 21], 10, 20],
  ['one that boasts among honest ones', [100, 101, 1e9], 10, 101],
])('target: %s', (_, claims, head, target) => {
  expect(syncTarget(claims, head)).toBe(target)
})
