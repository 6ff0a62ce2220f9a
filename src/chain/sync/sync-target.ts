import { assert } from '../../util/assert.ts'

/**
 * The height to catch up to: the lower median of the heads that peers claim above this node's own, so that one that boasts moves
 * nothing as long as validators are at a later height too; the own head when nobody is. Where all but one are behind as well, that one counts, and
 * once this node has passed those that are slow they do not hold it up.
 */
export const syncTarget = (claims: readonly number[], head: number): number => {
  const ahead = claims.filter(claim => claim > head).sort((a, b) => a - b)
  if (ahead.length === 0) return head
  const median = ahead[Math.floor((ahead.length - 1) / 2)]
  assert(median !== undefined, 'a list that is not empty has a median')
  return median
}
