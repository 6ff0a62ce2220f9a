import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import { proposerOf } from '../../../src/consensus/committee.ts'
import { justificationFromRoundChanges } from '../../../src/consensus/core/messages/justification.ts'
import type { UnsignedMessage } from '../../../src/consensus/core/types.ts'
import { messageDigest } from '../../../src/consensus/wal/sign-message.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { Prepare, RoundChange } from '../../../src/primitives/consensus/vote.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'
import { inRoundZero, offer } from './proposing.ts'

/*
 * Byzantine members that act as one: they collect quorums of prepares which no honest member knows, and claim them once the blocks may be
 * gone everywhere (docs/design/consensus.md#missing-bodies).
 */

/** Probability that in a round a member of the few is shown a quorum of prepares, and locks. */
const SHOWN = 0.5

/** Variant of the attack. */
interface Hiding {
  /** False at heights at which no member is shown a quorum. */
  readonly shows: (number: number) => boolean
  /** Index of the certificate that a node claims, of so many, oldest first. */
  readonly claims: (number: number, node: number, count: number) => number
  /** Blocks of rounds above 0, which the few store, can be prepared. */
  readonly isValid: boolean
  /** The last proposers are the few: the next ones have none of their blocks. */
  readonly fewAreLast: boolean
}

/** Nodes of the Byzantine members of a height, this one included. */
const alliesAt = (node: ByzantineNode, number: number): readonly number[] =>
  node.options.allies.filter(ally => indexOf(node, number, ally) >= 0)

const indexOf = (node: ByzantineNode, number: number, of: number): number =>
  node.committee(number).members.indexOf(node.options.keys.addresses[of] as Hex)

/** Just enough honest nodes for a quorum of prepares with all Byzantine members; the same ones for all of these. */
const fewAt = (node: ByzantineNode, number: number, { fewAreLast }: Hiding): readonly number[] => {
  const { allies, size } = node.options
  const honest = Array.from({ length: size }, (_, at) => (at + number) % size).filter(
    at => !allies.includes(at) && indexOf(node, number, at) >= 0,
  )
  const count = Math.max(0, node.quorum(number) - alliesAt(node, number).length)
  return fewAreLast ? honest.slice(honest.length - count) : honest.slice(0, count)
}

/** Message of another Byzantine member. */
const signedBy = <M extends UnsignedMessage>(
  node: ByzantineNode,
  ally: number,
  message: M,
): M & { sender: number; signature: Uint8Array } => ({
  ...message,
  sender: indexOf(node, message.number, ally),
  signature: node.options.keys.signers[ally]?.sign(messageDigest(node.options.domain, message)) as Uint8Array,
})

/** Quorums of prepares of rounds below `round`, oldest first: those of honest members, filled up by the Byzantine ones. */
const hiddenBelow = (node: ByzantineNode, number: number, round: number): readonly (readonly Prepare[])[] => {
  const allies = alliesAt(node, number)
  const indexes = new Set(allies.map(ally => indexOf(node, number, ally)))
  const byBlock = new Map<string, Prepare[]>()
  for (const vote of node.preparesAt(number)) {
    if (vote.round >= round || indexes.has(vote.sender)) continue
    const key = `${vote.round} ${vote.blockHash}`
    byBlock.set(key, [...(byBlock.get(key) ?? []), vote])
  }
  const full = [...byBlock.values()].map(votes => [
    ...votes,
    ...allies.map(ally => {
      const { number: at, round: of, blockHash } = votes[0] as Prepare
      return signedBy(node, ally, { type: 'prepare' as const, number: at, round: of, blockHash })
    }),
  ])
  return full
    .filter(votes => votes.length >= node.quorum(number))
    .sort((a, b) => (a[0] as Prepare).round - (b[0] as Prepare).round)
}

/** Claims one of them in a round change. Not to the proposer of the round before, which would forget the claim for its own round. */
const claim = (node: ByzantineNode, number: number, round: number, { claims }: Hiding): void => {
  if (!node.once(`claims ${number} ${round}`)) return
  const hidden = hiddenBelow(node, number, round)
  const prepares = hidden[claims(number, node.options.node, hidden.length)] ?? []
  const [first] = prepares
  const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
  const before = proposerOf(node.committee(number), number, round - 1)
  const to = node.others.filter(other => node.options.keys.addresses[other] !== before)
  node.say(to, { type: 'roundChange', number, round, prepared, prepares })
}

/** Claims reach the next proposer before the round changes of honest members, late in the round before. */
const claimSoon = (node: ByzantineNode, number: number, round: number, how: Hiding): void => {
  const { maxTimeoutExponent, timeoutCapMs } = CONSENSUS_BOUNDS
  const timeoutMs = node.options.roundTimeoutMs * 2 ** Math.min(round - 1, maxTimeoutExponent)
  node.later(0.8 * Math.min(timeoutMs, timeoutCapMs), () => claim(node, number, round, how))
}

/** A fresh block to the few, on round changes that claim nothing. */
const proposeToFew = (node: ByzantineNode, number: number, round: number, how: Hiding): void => {
  const height = node.heightAt(number)
  if (height === undefined || !node.isProposer(number, round)) return
  const allies = alliesAt(node, number)
  const indexes = new Set(allies.map(ally => indexOf(node, number, ally)))
  const honest = node.changesTo(number, round).filter(change => change.prepared === null && !indexes.has(change.sender))
  if (honest.length + allies.length < node.quorum(number) || !node.once(`again ${number} ${round}`)) return
  const own = allies.map((ally): RoundChange => {
    const change = { type: 'roundChange' as const, number, round, prepared: null, prepares: [] }
    return signedBy(node, ally, change)
  })
  const justification = justificationFromRoundChanges([...own, ...honest])
  const block = node.makeBlock(height, { isValid: how.isValid })
  node.say(fewAt(node, number, how), { type: 'proposal', number, round, block, ...justification })
}

/** Shows one member a quorum of prepares for its proposal, so that it alone is locked. */
const lockOne = (node: ByzantineNode, { number, round, blockHash }: Prepare, how: Hiding): void => {
  const { allies } = node.options
  const leader = alliesAt(node, number)[0]
  if (
    !how.shows(number) ||
    leader !== node.options.node ||
    !node.once(`shows ${number} ${round}`) ||
    !node.random.chance(SHOWN)
  )
    return
  const one = node.random.pick(fewAt(node, number, how))
  for (const ally of allies) {
    if (indexOf(node, number, ally) < 0) continue
    const vote = signedBy(node, ally, { type: 'prepare' as const, number, round, blockHash })
    node.postMessage([one], vote as SignedMessage)
  }
}

/** Hidden certificates, claimed later; a run of Byzantine proposers gives the few one block after the other. */
const hides = (how: Hiding): Script => ({
  ...inRoundZero((node, height) => offer(node, fewAt(node, height.number, how), node.makeBlock(height))),
  onPrepare(node, prepare) {
    if (fewAt(node, prepare.number, how).length === 0) return
    lockOne(node, prepare, how)
    if (prepare.round === 0) claimSoon(node, prepare.number, 1, how)
  },
  onRoundChange(node, { number, round }) {
    if (round === 0 || node.indexAt(number) < 0) return
    proposeToFew(node, number, round, how)
    if (!node.once(`follows ${number} ${round}`)) return
    claim(node, number, round, how)
    claimSoon(node, number, round + 1, how)
  },
})

/** Claims the oldest one or, at each third height, each node another; at each second height members lock. */
export const hidesCertificates = hides({
  shows: number => number % 2 === 0,
  claims: (number, node, count) => (number % 3 === 0 ? node % Math.max(1, count) : 0),
  isValid: true,
  fewAreLast: false,
})

/** After round 0 the few get blocks that they cannot prepare. */
export const hidesBehindInvalid = hides({ shows: () => false, claims: () => 0, isValid: false, fewAreLast: false })

/** Each claims another one, of which the next proposers have no body. */
export const withholdsBodies = hides({
  shows: () => true,
  claims: (_, node, count) => node % Math.max(1, count),
  isValid: true,
  fewAreLast: true,
})
