import { proposerOf } from '../../consensus/committee.ts'
import type { Block } from '../../primitives/block.ts'
import type { RoundChangePayload } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import { encodeFrame } from '../envelope.ts'
import type { Liar, OpenHeight } from './byzantine-node.ts'
import { forgedPrepares, noSignature } from './forgeries.ts'
import { inRoundZero, offer } from './proposing.ts'
import type { Script } from './script.ts'

/* Proposals that their proposer may not make: of another turn, in the name of another, on another parent, or on reasons made up. */

/** Its turn, and a block that names another member as its maker: whoever that is answers for it, and is paid. */
export const namesAnotherProposer = inRoundZero((liar, height) => {
  const proposer = liar.random.pick(othersOf(liar, height))
  if (proposer !== undefined) offer(liar, liar.others, liar.makeBlock(height, { proposer }))
})

const othersOf = (liar: Liar, { number }: OpenHeight): readonly Hex[] => {
  const own = liar.indexAt(number)
  return liar.committee(number).members.filter((_, index) => index !== own)
}

/** On its grandparent, on nothing, or at another height. */
export const proposesElsewhere = inRoundZero((liar, height) => {
  const grandparent = liar.heightAt(height.number - 1)?.parent.hash ?? height.parent.hash
  const block = liar.random.pick([
    () => liar.makeBlock(height, { parentHash: grandparent }),
    () => liar.makeBlock(height, { parentHash: `0x${'cd'.repeat(32)}` }),
    () => liar.makeBlock({ ...height, number: height.number + 1 }),
  ])()
  const { number } = height
  liar.say(liar.others, { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] })
})

/** Another one's turn, before that one speaks: in its own name, or in the other's. */
export const proposesOutOfTurn: Script = {
  onHeight(liar, height) {
    const { number, parent } = height
    const own = liar.indexAt(number)
    if (own < 0 || liar.isProposer(number, 0)) return
    const proposer = proposerOf(liar.committee(number), number, 0)
    const dueMs = (parent.timestamp + Math.floor(liar.options.blockTimeMs / 1000)) * 1000
    liar.later(Math.max(0, dueMs - liar.nowMs), () => {
      const block = liar.makeBlock(height, { proposer })
      const message = { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] } as const
      const sender = liar.random.chance(0.5) ? own : liar.committee(number).members.indexOf(proposer)
      liar.post(liar.others, encodeFrame({ ...message, sender, signature: liar.sign(message) }))
    })
  },
}

/** A later round of its own, at once: the others are said to have given up theirs, and to have prepared what it likes. */
export const forgesRoundChanges: Script = {
  onProposal(liar, { number, round, block }) {
    const height = liar.heightAt(number)
    const next = [1, 2, 3].map(ahead => round + ahead).find(at => liar.isProposer(number, at))
    if (height === undefined || next === undefined || !liar.once(`forged ${number} ${next}`)) return
    const isFresh = liar.random.chance(0.6)
    const mine = isFresh ? liar.makeBlock(height) : block
    liar.later(liar.random.next() * liar.options.roundTimeoutMs, () => proposeOn(liar, mine, next, isFresh))
  },
}

const proposeOn = (liar: Liar, block: Block, round: number, isFresh: boolean): void => {
  const { number } = block.header
  const prepared = isFresh ? null : { round: round - 1, blockHash: block.hash }
  const change = { type: 'roundChange', number, round, prepared } as const
  const own = liar.sign({ ...change, prepares: [] })
  const roundChanges = Array.from({ length: liar.quorum(number) }, (_, sender): RoundChangePayload => {
    const isOwn = sender === liar.indexAt(number) || liar.random.chance(0.5)
    return { ...change, sender, signature: isOwn ? own : noSignature(liar) }
  })
  const prepares = isFresh ? [] : forgedPrepares(liar, number, round - 1, block.hash)
  liar.say(liar.others, { type: 'proposal', number, round, block, roundChanges, prepares })
}
