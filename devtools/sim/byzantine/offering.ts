import type { Hex } from '@tandem/base/bytes.ts'
import { proposerOf } from '../../../src/consensus/committee.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import { encodeEnvelope } from '../network/envelope.ts'
import type { ByzantineNode, OpenHeight, Script } from './byzantine-node.ts'
import { forgedPrepares, noSignature } from './forgeries.ts'
import { inRoundZero, offer } from './proposing.ts'

/*
 * Proposals that a proposer may not make: in another round's place, in the name of another, on another parent, or with an invented
 * justification.
 */

/** As the proposer, a block that names another member as its proposer, who would be responsible for it and paid. */
export const namesAnotherProposer = inRoundZero((byzantineNode, height) => {
  const proposer = byzantineNode.random.pick(othersOf(byzantineNode, height))
  if (proposer !== undefined) offer(byzantineNode, byzantineNode.others, byzantineNode.makeBlock(height, { proposer }))
})

const othersOf = (byzantineNode: ByzantineNode, { number }: OpenHeight): readonly Hex[] => {
  const own = byzantineNode.indexAt(number)
  return byzantineNode.committee(number).members.filter((_, index) => index !== own)
}

/** On its grandparent, on nothing, or at another height. */
export const proposesElsewhere = inRoundZero((byzantineNode, height) => {
  const grandparent = byzantineNode.heightAt(height.number - 1)?.parent.hash ?? height.parent.hash
  const block = byzantineNode.random.pick([
    () => byzantineNode.makeBlock(height, { parentHash: grandparent }),
    () => byzantineNode.makeBlock(height, { parentHash: `0x${'cd'.repeat(32)}` }),
    () => byzantineNode.makeBlock({ ...height, number: height.number + 1 }),
  ])()
  const { number } = height
  byzantineNode.say(byzantineNode.others, { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] })
})

/** In another proposer's round, before that one proposes: in its own name, or in the other's. */
export const proposesOutOfTurn: Script = {
  onHeight(byzantineNode, height) {
    const { number, parent } = height
    const own = byzantineNode.indexAt(number)
    if (own < 0 || byzantineNode.isProposer(number, 0)) return
    const proposer = proposerOf(byzantineNode.committee(number), number, 0)
    const dueMs = (parent.timestamp + Math.floor(byzantineNode.options.blockTimeMs / 1000)) * 1000
    byzantineNode.later(Math.max(0, dueMs - byzantineNode.nowMs), () => {
      const block = byzantineNode.makeBlock(height, { proposer })
      const message = { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] } as const
      const sender = byzantineNode.random.chance(0.5) ? own : byzantineNode.committee(number).members.indexOf(proposer)
      byzantineNode.post(
        byzantineNode.others,
        encodeEnvelope({ ...message, sender, signature: byzantineNode.sign(message) }),
      )
    })
  },
}

/** A later round of its own, immediately: with forged round changes and prepares of the others. */
export const forgesRoundChanges: Script = {
  onProposal(byzantineNode, { number, round, block }) {
    const height = byzantineNode.heightAt(number)
    const next = [1, 2, 3].map(ahead => round + ahead).find(at => byzantineNode.isProposer(number, at))
    if (height === undefined || next === undefined || !byzantineNode.once(`forged ${number} ${next}`)) return
    const isFresh = byzantineNode.random.chance(0.6)
    const mine = isFresh ? byzantineNode.makeBlock(height) : block
    byzantineNode.later(byzantineNode.random.next() * byzantineNode.options.roundTimeoutMs, () =>
      proposeOn(byzantineNode, mine, next, isFresh),
    )
  },
}

const proposeOn = (byzantineNode: ByzantineNode, block: Block, round: number, isFresh: boolean): void => {
  const { number } = block.header
  const prepared = isFresh ? null : { round: round - 1, blockHash: block.hash }
  const change = { type: 'roundChange', number, round, prepared } as const
  const own = byzantineNode.sign({ ...change, prepares: [] })
  const roundChanges = Array.from({ length: byzantineNode.quorum(number) }, (_, sender): RoundChangePayload => {
    const isOwn = sender === byzantineNode.indexAt(number) || byzantineNode.random.chance(0.5)
    return { ...change, sender, signature: isOwn ? own : noSignature(byzantineNode) }
  })
  const prepares = isFresh ? [] : forgedPrepares(byzantineNode, number, round - 1, block.hash)
  byzantineNode.say(byzantineNode.others, { type: 'proposal', number, round, block, roundChanges, prepares })
}
