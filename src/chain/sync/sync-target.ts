import { assert } from '@tandem/base/assert.ts'

/**
 * Returns the height to sync to: the lower median of the heads that peers claim above this node's own, so that a single false
 * claim has no effect while validators are at a later height too; the own head when no peer is ahead. Where all other peers are
 * behind, a single one counts, and peers that this node has passed do not delay it.
 */
export const syncTarget = (claims: readonly number[], head: number): number => {
  const ahead = claims.filter(claim => claim > head).sort((a, b) => a - b)
  if (ahead.length === 0) return head
  const median = ahead[Math.floor((ahead.length - 1) / 2)]
  assert(median !== undefined, 'a list that is not empty has a median')
  return median
}
