import type { HeightState } from '../core/types.ts'

/** How far a round came at this node, for an operator: the step that did not end, with the votes counted. */
export const roundProgress = (height: HeightState, round: number): string => {
  const { proposals, verdicts, accepted, prepares, commits, prepared, quorum } = height
  const proposal = proposals.get(round)
  if (proposal === undefined) return 'no proposal'
  const { hash } = proposal.block
  if (!accepted.has(round)) {
    const verdict = verdicts.get(hash)
    if (verdict === 'invalid') return 'proposal rejected'
    return typeof verdict === 'object' ? 'proposal not executed yet' : 'proposal not accepted'
  }
  if (prepared?.round !== round) return `${prepares.count(round, hash)} of ${quorum} prepares`
  return `${commits.count(round, hash)} of ${quorum} commits`
}
