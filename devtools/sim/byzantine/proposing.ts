import { highestPrepared, justificationFromRoundChanges } from '../../../src/consensus/core/messages/justification.ts'
import type { Block } from '../../../src/primitives/block.ts'
import type { Prepare, RoundChange, RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import type { ByzantineNode, OpenHeight, Script } from './byzantine-node.ts'

/*
 * Scripts of a byzantine proposer (docs/design/consensus.md#mutants). Silence needs no script. Those of later rounds act when a
 * quorum with their own round change exists.
 */

/** Acts at the block time as the proposer of round 0. */
export const inRoundZero = (act: (byzantineNode: ByzantineNode, height: OpenHeight) => void): Script => ({
  onHeight(byzantineNode, height) {
    if (!byzantineNode.isProposer(height.number, 0)) return
    // At the block time, as an honest proposer would; before it the clocks of others would reject the block.
    const dueMs = (height.parent.timestamp + Math.floor(byzantineNode.options.blockTimeMs / 1000)) * 1000
    byzantineNode.later(Math.max(0, dueMs - byzantineNode.nowMs), () => act(byzantineNode, height))
  },
})

export const offer = (byzantineNode: ByzantineNode, to: readonly number[], block: Block): void => {
  const { number } = block.header
  byzantineNode.say(to, { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] })
}

/** Each half gets its own block, a few get none. */
export const proposesTwo = inRoundZero((byzantineNode, height) => {
  const blocks = [byzantineNode.makeBlock(height), byzantineNode.makeBlock(height)]
  for (const to of byzantineNode.others)
    if (!byzantineNode.random.chance(0.15)) offer(byzantineNode, [to], byzantineNode.random.pick(blocks))
})

export const proposesInvalid = inRoundZero((byzantineNode, height) => {
  const good = byzantineNode.makeBlock(height)
  const bad = byzantineNode.makeBlock(height, { isValid: false })
  const share = byzantineNode.random.next()
  for (const to of byzantineNode.others) offer(byzantineNode, [to], byzantineNode.random.chance(share) ? bad : good)
})

export const proposesFromTheFuture = inRoundZero((byzantineNode, height) => {
  offer(
    byzantineNode,
    byzantineNode.others,
    byzantineNode.makeBlock(height, { aheadSeconds: 2 + byzantineNode.random.below(60) }),
  )
})

/** The seals of another round, of too few, or none at all. */
export const forgesTheParentCertificate = inRoundZero((byzantineNode, height) => {
  const { certificate } = height.parent
  if (certificate === null) return
  const { round, bitmap, seals } = certificate
  const forged = [
    { round: round + 1, bitmap, seals },
    { round, bitmap, seals: seals.map(() => seals[0] as Uint8Array) },
    null,
  ]
  offer(
    byzantineNode,
    byzantineNode.others,
    byzantineNode.makeBlock(height, { certificate: byzantineNode.random.pick(forged) }),
  )
})

/** Blocks that take as long as gas lets them, right or wrong, or say that they take longer than they may. */
export const proposesSlow = inRoundZero((member, height) => {
  const { slowMs } = member.options
  const how = member.random.pick([
    { workMs: slowMs },
    { workMs: slowMs, isValid: false },
    { workMs: slowMs, isValid: false },
    { workMs: 1_000 * slowMs, isValid: false },
  ])
  offer(member, member.others, member.makeBlock(height, how))
})

/** So late that the others give up the round while they vote. */
export const proposesLate = inRoundZero((byzantineNode, height) => {
  const delayMs = byzantineNode.options.roundTimeoutMs * (0.8 + byzantineNode.random.next() * 0.25)
  byzantineNode.later(delayMs, () => offer(byzantineNode, byzantineNode.others, byzantineNode.makeBlock(height)))
})

type Act = (byzantineNode: ByzantineNode, height: OpenHeight, round: number, changes: readonly RoundChange[]) => void

const inLaterRounds = (name: string, act: Act): Script => ({
  onRoundChange(byzantineNode, { number, round }) {
    const height = byzantineNode.heightAt(number)
    if (height === undefined || round === 0 || !byzantineNode.isProposer(number, round)) return
    const others = byzantineNode
      .changesTo(number, round)
      .filter(change => change.sender !== byzantineNode.indexAt(number))
    if (others.length + 1 < byzantineNode.quorum(number) || !byzantineNode.once(`${name} ${number} ${round}`)) return
    const own = changeOf(byzantineNode, number, round, null)
    if (own !== undefined) act(byzantineNode, height, round, [own, ...others])
  },
})

/** Signs a round change and broadcasts it to no one; it is given only to its recipient. */
const changeOf = (
  byzantineNode: ByzantineNode,
  number: number,
  round: number,
  prepares: readonly Prepare[] | null,
): RoundChange | undefined => {
  const first = prepares?.[0]
  const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
  const said = byzantineNode.say([], { type: 'roundChange', number, round, prepared, prepares: prepares ?? [] })
  return said as RoundChange | undefined
}

const propose = (
  byzantineNode: ByzantineNode,
  round: number,
  block: Block,
  roundChanges: readonly RoundChangePayload[],
  prepares: readonly Prepare[],
): void => {
  const to = byzantineNode.others.filter(() => byzantineNode.random.chance(0.8))
  const payloads = roundChanges.map(({ number, round: at, sender, signature, prepared }) => ({
    type: 'roundChange' as const,
    number,
    round: at,
    sender,
    signature,
    prepared,
  }))
  byzantineNode.say(to, {
    type: 'proposal',
    number: block.header.number,
    round,
    block,
    roundChanges: payloads,
    prepares,
  })
}

/** Chooses the quorum with the least prepared rounds, and proposes two blocks on it: valid except for the second. */
export const proposesUnprepared = inLaterRounds('picks', (byzantineNode, height, round, [own, ...others]) => {
  const least = others.toSorted((a, b) => (a.prepared?.round ?? -1) - (b.prepared?.round ?? -1))
  const chosen = [own as RoundChange, ...least].slice(0, byzantineNode.quorum(height.number))
  const highest = highestPrepared(chosen)
  if (highest === 'contradictory') return
  const { roundChanges, prepares } = justificationFromRoundChanges(chosen)
  const forced = byzantineNode.blocksAt(height.number).find(block => block.hash === highest?.blockHash)
  if (forced !== undefined) propose(byzantineNode, round, forced, roundChanges, prepares)
  else
    for (let count = 0; count < 2; count++)
      propose(byzantineNode, round, byzantineNode.makeBlock(height), roundChanges, prepares)
})

/** Another block although one is prepared, with a real justification. */
export const ignoresThePrepared = inLaterRounds('ignores', (byzantineNode, height, round, changes) => {
  const { roundChanges, prepares } = justificationFromRoundChanges(changes)
  const block = byzantineNode.makeBlock(height)
  propose(byzantineNode, round, block, roundChanges, byzantineNode.random.chance(0.5) ? prepares : [])
})

export const justifiesWithStaleChanges = inLaterRounds('stale', (byzantineNode, height, round) => {
  propose(byzantineNode, round, byzantineNode.makeBlock(height), byzantineNode.changesTo(height.number, round - 1), [])
})

export const justifiesWithOneSender = inLaterRounds('repeats', (byzantineNode, height, round, [own]) => {
  const repeated = new Array<RoundChange>(byzantineNode.quorum(height.number)).fill(own as RoundChange)
  propose(byzantineNode, round, byzantineNode.makeBlock(height), repeated, [])
})

export const justifiesWithAnotherHeight = inLaterRounds('foreign', (byzantineNode, height, round) => {
  const before = [1, 2, 3].flatMap(at => byzantineNode.changesTo(height.number - 1, at))
  propose(byzantineNode, round, byzantineNode.makeBlock(height), before, [])
})

/** Its own block of the previous round, with forged prepares. */
export const forgesPrepares = inLaterRounds('forges', (byzantineNode, height, round, [, ...others]) => {
  const block = byzantineNode.makeBlock(height)
  const prepares = Array.from({ length: byzantineNode.quorum(height.number) }, (_, sender): Prepare => {
    const signature = new Uint8Array(65).fill(byzantineNode.random.below(100))
    return { type: 'prepare', number: height.number, round: round - 1, blockHash: block.hash, sender, signature }
  })
  const own = changeOf(byzantineNode, height.number, round, prepares)
  if (own !== undefined)
    propose(byzantineNode, round, block, [own, ...others].slice(0, byzantineNode.quorum(height.number)), prepares)
})
