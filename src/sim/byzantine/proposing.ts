import { highestPrepared, justificationFrom } from '../../consensus/core/justification.ts'
import type { Block } from '../../primitives/block.ts'
import type { Prepare, RoundChange, RoundChangePayload } from '../../primitives/consensus/vote.ts'
import type { Liar, OpenHeight } from './byzantine-node.ts'
import type { Script } from './script.ts'

/*
 * What a dishonest proposer does (reference/consensus.md 2.4). Silence needs no script. Those of later rounds act when a quorum
 * with their own round change is there.
 */

/** At its second, where round 0 is its turn. */
export const inRoundZero = (act: (liar: Liar, height: OpenHeight) => void): Script => ({
  onHeight(liar, height) {
    if (!liar.isProposer(height.number, 0)) return
    // At its second, as an honest proposer would, or the others have no clock for it yet.
    const dueMs = (height.parent.timestamp + Math.floor(liar.options.blockTimeMs / 1000)) * 1000
    liar.later(Math.max(0, dueMs - liar.nowMs), () => act(liar, height))
  },
})

export const offer = (liar: Liar, to: readonly number[], block: Block): void => {
  const { number } = block.header
  liar.say(to, { type: 'proposal', number, round: 0, block, roundChanges: [], prepares: [] })
}

/** Each half gets its own block, a few get none. */
export const proposesTwo = inRoundZero((liar, height) => {
  const blocks = [liar.makeBlock(height), liar.makeBlock(height)]
  for (const to of liar.others) if (!liar.random.chance(0.15)) offer(liar, [to], liar.random.pick(blocks))
})

export const proposesInvalid = inRoundZero((liar, height) => {
  const good = liar.makeBlock(height)
  const bad = liar.makeBlock(height, { isValid: false })
  const share = liar.random.next()
  for (const to of liar.others) offer(liar, [to], liar.random.chance(share) ? bad : good)
})

export const proposesFromTheFuture = inRoundZero((liar, height) => {
  offer(liar, liar.others, liar.makeBlock(height, { aheadSeconds: 2 + liar.random.below(60) }))
})

/** The seals of another round, of too few, or none at all. */
export const forgesTheParentCertificate = inRoundZero((liar, height) => {
  const { certificate } = height.parent
  if (certificate === null) return
  const { round, bitmap, seals } = certificate
  const forged = [
    { round: round + 1, bitmap, seals },
    { round, bitmap, seals: seals.map(() => seals[0] as Uint8Array) },
    null,
  ]
  offer(liar, liar.others, liar.makeBlock(height, { certificate: liar.random.pick(forged) }))
})

/** So late that the others give up the round while they vote. */
export const proposesLate = inRoundZero((liar, height) => {
  const delayMs = liar.options.roundTimeoutMs * (0.8 + liar.random.next() * 0.25)
  liar.later(delayMs, () => offer(liar, liar.others, liar.makeBlock(height)))
})

type Act = (liar: Liar, height: OpenHeight, round: number, changes: readonly RoundChange[]) => void

const inLaterRounds = (name: string, act: Act): Script => ({
  onRoundChange(liar, { number, round }) {
    const height = liar.heightAt(number)
    if (height === undefined || round === 0 || !liar.isProposer(number, round)) return
    const others = liar.changesTo(number, round).filter(change => change.sender !== liar.indexAt(number))
    if (others.length + 1 < liar.quorum(number) || !liar.once(`${name} ${number} ${round}`)) return
    const own = changeOf(liar, number, round, null)
    if (own !== undefined) act(liar, height, round, [own, ...others])
  },
})

/** Signed, and given to whoever it is sent to: to nobody here. */
const changeOf = (
  liar: Liar,
  number: number,
  round: number,
  prepares: readonly Prepare[] | null,
): RoundChange | undefined => {
  const first = prepares?.[0]
  const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
  const said = liar.say([], { type: 'roundChange', number, round, prepared, prepares: prepares ?? [] })
  return said as RoundChange | undefined
}

const propose = (
  liar: Liar,
  round: number,
  block: Block,
  roundChanges: readonly RoundChangePayload[],
  prepares: readonly Prepare[],
): void => {
  const to = liar.others.filter(() => liar.random.chance(0.8))
  const payloads = roundChanges.map(({ number, round: at, sender, signature, prepared }) => ({
    type: 'roundChange' as const,
    number,
    round: at,
    sender,
    signature,
    prepared,
  }))
  liar.say(to, { type: 'proposal', number: block.header.number, round, block, roundChanges: payloads, prepares })
}

/** The quorum that says least is prepared, and two blocks on it: legal but for the second. */
export const picksTheUnprepared = inLaterRounds('picks', (liar, height, round, [own, ...others]) => {
  const least = others.toSorted((a, b) => (a.prepared?.round ?? -1) - (b.prepared?.round ?? -1))
  const chosen = [own as RoundChange, ...least].slice(0, liar.quorum(height.number))
  const highest = highestPrepared(chosen)
  if (highest === 'contradictory') return
  const { roundChanges, prepares } = justificationFrom(chosen)
  const forced = liar.blocksAt(height.number).find(block => block.hash === highest?.blockHash)
  if (forced !== undefined) propose(liar, round, forced, roundChanges, prepares)
  else for (let count = 0; count < 2; count++) propose(liar, round, liar.makeBlock(height), roundChanges, prepares)
})

/** Another block although one is prepared, by a real justification. */
export const ignoresThePrepared = inLaterRounds('ignores', (liar, height, round, changes) => {
  const { roundChanges, prepares } = justificationFrom(changes)
  const block = liar.makeBlock(height)
  propose(liar, round, block, roundChanges, liar.random.chance(0.5) ? prepares : [])
})

export const justifiesWithStaleChanges = inLaterRounds('stale', (liar, height, round) => {
  propose(liar, round, liar.makeBlock(height), liar.changesTo(height.number, round - 1), [])
})

export const justifiesWithOneSender = inLaterRounds('repeats', (liar, height, round, [own]) => {
  const repeated = new Array<RoundChange>(liar.quorum(height.number)).fill(own as RoundChange)
  propose(liar, round, liar.makeBlock(height), repeated, [])
})

export const justifiesWithAnotherHeight = inLaterRounds('foreign', (liar, height, round) => {
  const before = [1, 2, 3].flatMap(at => liar.changesTo(height.number - 1, at))
  propose(liar, round, liar.makeBlock(height), before, [])
})

/** Its own block of the round before, with prepares that nobody signed. */
export const forgesPrepares = inLaterRounds('forges', (liar, height, round, [, ...others]) => {
  const block = liar.makeBlock(height)
  const prepares = Array.from({ length: liar.quorum(height.number) }, (_, sender): Prepare => {
    const signature = new Uint8Array(65).fill(liar.random.below(100))
    return { type: 'prepare', number: height.number, round: round - 1, blockHash: block.hash, sender, signature }
  })
  const own = changeOf(liar, height.number, round, prepares)
  if (own !== undefined) propose(liar, round, block, [own, ...others].slice(0, liar.quorum(height.number)), prepares)
})
