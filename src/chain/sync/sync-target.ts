import { assert } from '@tandem/base/assert.ts'

/**
 * Returns the height to sync to: the lower median of the heads that peers claim above this node's own, so that a single false
 * claim has no effect while validators are at a later height too; the own head when no peer is ahead. Where all other peers are
 * behind, a single one counts, and peers that this node has passed do not delay it.
 */
export const syncTarget = (claims: readonly number[], head: number): number => {
  const ahead = claims.filter(claim => claim > head)
  return ahead.length === 0 ? head : lowerMedian(ahead)
}

/**
 * Returns the height of the chain as far as peers are believed: the lower median of all that members and static peers claim, or, where there
 * are none, of what peers claim whose blocks proved final; undefined when there are none either. The heads of peers that are not ahead
 * count as well: with those ahead alone, a single false claim would count at every node that has reached the head.
 */
export const provenHead = (trusted: readonly number[], delivered: readonly number[], head: number) => {
  const claims = trusted.length > 0 ? trusted : delivered
  return claims.length === 0 ? undefined : Math.max(head, lowerMedian(claims))
}

const lowerMedian = (numbers: readonly number[]): number => {
  const median = numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)]
  assert(median !== undefined, 'a list that is not empty has a median')
  return median
}
