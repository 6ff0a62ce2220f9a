import type { Hex } from '@tandem/base/bytes.ts'
import { type ExploredMember, heightOf } from './member.ts'
import { VALUES, type Values } from './values.ts'

/**
 * Text that is equal for members that behave alike from here on. Left out: timers, who carried a proof (any quorum is as good as
 * another), what was offered in rounds that are over, and the round changes of others, which only a proposer gathers, and every
 * proposal is the adversary's here.
 */
export const keyOfMember = (member: ExploredMember, values: Values): string => {
  const { round, proposals, verdicts, accepted, prepared, asked, own, wanted, prepares, commits } = heightOf(member)
  const name = (hash: Hex) => values.valueOf(hash)
  const namesFrom = <T>(map: ReadonlyMap<number, T>, hashOf: (item: T) => Hex) =>
    [...map].filter(([at]) => at >= round).map(([at, item]) => [at, name(hashOf(item))])
  return JSON.stringify([
    round,
    namesFrom(proposals, ({ block }) => block.hash).sort(),
    // Every block here is valid: whether that is known already makes no difference.
    [...verdicts]
      .filter(([, verdict]) => verdict !== 'valid')
      .map(([hash, verdict]) => [name(hash), verdict])
      .sort(),
    namesFrom(accepted, hash => hash).sort(),
    VALUES.map(value => {
      const { hash } = values.block(value, 0)
      return [prepares, commits].map(votes => votes.votesFor(round, hash).map(({ sender }) => sender))
    }),
    prepared && [prepared.round, name(prepared.blockHash)],
    [asked.prepare, asked.commit, asked.roundChange],
    [own.prepare, own.commit, own.roundChange].map(message => message?.round),
    [...wanted].sort(),
    Object.values(member.said),
  ])
}
