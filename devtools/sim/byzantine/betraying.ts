import type { Hex } from '@tandem/base/bytes.ts'
import type { Prepare } from '../../../src/primitives/consensus/vote.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'

/* A member that says for many rounds what an honest one would, except that it commits to a block of its own, and then breaks its word. */

/** Round from which on its statements of one height are more than a member keeps (docs/design/consensus.md#evidence). */
export const BETRAYAL_ROUND = 140

const OTHER: Hex = `0x${'be'.repeat(32)}`

/** Prepares of the first round in which a quorum prepared. */
const firstPrepared = (node: ByzantineNode, number: number): readonly Prepare[] =>
  node.preparedBelow(number, Number.MAX_SAFE_INTEGER) ?? []

/** Keeps a stall going: it votes in each round, in one without a proposal for its own block, without the commit that would end the height. */
const betrays = (how: 'votes twice' | 'forgets'): Script => ({
  onProposal(node, { number, round, block }) {
    if (!node.once(`prepares ${number} ${round}`)) return
    const vote = { type: 'prepare', number, round } as const
    node.say(node.others, { ...vote, blockHash: block.hash })
    if (round >= BETRAYAL_ROUND && how === 'votes twice') node.say(node.others, { ...vote, blockHash: OTHER })
  },
  onRoundChange(node, { number, round }) {
    if (round === 0 || !node.once(`follows ${number} ${round}`)) return
    if (node.once(`prepares ${number} ${round - 1}`))
      node.say(node.others, { type: 'prepare', number, round: round - 1, blockHash: OTHER })
    const isForgotten = round >= BETRAYAL_ROUND && how === 'forgets'
    const prepares = isForgotten ? [] : firstPrepared(node, number)
    const [first] = prepares
    const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
    if (prepared !== null && node.once(`commits ${number}`))
      node.say(node.others, { type: 'commit', number, round: prepared.round, blockHash: OTHER })
    node.say(node.others, { type: 'roundChange', number, round, prepared, prepares })
  },
})

export const votesTwiceLate = betrays('votes twice')
export const forgetsLate = betrays('forgets')
