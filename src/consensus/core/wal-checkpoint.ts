import type { HeightState, WalRecord } from './types.ts'

/**
 * The least a log must hold of a height to take up where it stands: a height that goes through many rounds would fill any log
 * otherwise. What it leaves out of `logged` is logged again when it is needed again.
 */
export const walCheckpoint = (height: HeightState): readonly WalRecord[] => {
  const { config, round, own, prepared, decided, blocks, proposals } = height
  const { number } = config
  const current = proposals.get(round)
  // A body is logged when its proposal is accepted, or its own.
  const accepted = current !== undefined && height.logged.has(current.block.hash) ? current : null
  const kept = new Set([own.proposal, accepted].filter(proposal => proposal !== null))
  const hashes = [prepared?.blockHash, own.prepare?.blockHash, own.commit?.blockHash, decided?.block.hash]
  for (const { block } of kept) hashes.push(block.hash)
  const bodies = [...new Set(hashes)].flatMap(hash => (hash === undefined ? [] : (blocks.get(hash) ?? [])))
  if (decided !== null && !bodies.includes(decided.block)) bodies.push(decided.block)
  height.logged.clear()
  for (const { hash } of bodies) height.logged.add(hash)
  const votes = [own.roundChange, own.prepare, own.commit].filter(vote => vote !== null)
  return [
    ...bodies.map((block): WalRecord => ({ type: 'block', block })),
    ...(round > 0 ? [{ type: 'round', number, round } as const] : []),
    ...[...kept].map((proposal): WalRecord => ({ type: 'proposal', proposal })),
    ...(prepared === null ? [] : [{ type: 'prepared', number, certificate: prepared } as const]),
    ...votes.map((vote): WalRecord => ({ type: 'signed', vote })),
    ...(decided === null ? [] : [{ type: 'decided', ...decided } as const]),
  ]
}
