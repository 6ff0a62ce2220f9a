import type { RoundChange } from '../../primitives/consensus/vote.ts'
import type { Hex } from '../../util/bytes.ts'
import { encodeFrame, type Frame } from '../envelope.ts'
import type { Liar } from './byzantine-node.ts'
import { forgedPrepares, noSignature } from './forgeries.ts'
import type { Script } from './script.ts'

/* Votes and round changes that say what is not so, in the own name and in those of others. */

/** Round changes that claim what nobody prepared, or prove what they claim by prepares that prove nothing. */
export const forgesClaims: Script = {
  onRoundChange(liar, { number, round }) {
    if (round === 0 || !liar.once(`claims ${number} ${round}`)) return
    const height = liar.heightAt(number)
    if (height === undefined) return
    const known = liar.blocksAt(number)
    const { hash: blockHash } = known.length > 0 ? liar.random.pick(known) : liar.makeBlock(height)
    // Now and then of the round itself, or of one that is still to come.
    const claimed = Math.max(0, round - 1 + (liar.random.chance(0.2) ? liar.random.below(3) : 0))
    const prepared = liar.random.chance(0.1) ? null : { round: claimed, blockHash }
    const prepares = forgedPrepares(liar, number, claimed, blockHash)
    liar.say(liar.others, { type: 'roundChange', number, round, prepared, prepares })
  },
}

/** The round change of an honest member, whose signature does not cover its prepares: without them, or with others. */
export const stripsClaims: Script = {
  onRoundChange(liar, change) {
    if (change.prepared === null || !liar.random.chance(0.5)) return
    const { round, blockHash } = change.prepared
    const prepares = liar.random.chance(0.5) ? [] : forgedPrepares(liar, change.number, round, blockHash)
    const stripped: RoundChange = { ...change, prepares }
    liar.post(liar.others, encodeFrame(stripped))
  },
}

/** Votes in the names of others: with its own signature, nobody's, or theirs from another place. */
export const votesForOthers: Script = {
  onPrepare(liar, prepare) {
    if (!liar.random.chance(0.1)) return
    const { number, round, blockHash } = prepare
    const type = liar.random.pick(['prepare', 'commit'] as const)
    const place = {
      type,
      number,
      round: round + liar.random.below(2),
      blockHash: liar.random.pick(liar.blocksAt(number))?.hash ?? blockHash,
    }
    const own = liar.sign(place)
    const forged = liar.committee(number).members.map((_, sender) => {
      const theirs = sender === prepare.sender ? prepare.signature : noSignature(liar)
      return { ...place, sender, signature: liar.random.pick([own, theirs]) }
    })
    for (const vote of forged) liar.post([liar.random.pick(liar.others)], encodeFrame(vote))
  },
}

/** Votes of an earlier height or round as those of this one, and its own for another genesis. */
export const replaysElsewhere: Script = {
  onStatus(liar, { number, round }) {
    if (!liar.random.chance(0.05)) return
    const old = [...liar.commitsAt(number - 1), ...liar.preparesAt(number - 1), ...liar.preparesAt(number)]
    const { hash: blockHash } = liar.blocksAt(number)[0] ?? {}
    if (old.length === 0 || blockHash === undefined) return
    const vote = liar.random.pick(old)
    liar.post(liar.others, encodeFrame({ ...vote, number, round, blockHash }))
    const elsewhere = { ...liar.options.domain, genesisHash: blockHash }
    liar.say([liar.random.pick(liar.others)], { type: 'prepare', number, round, blockHash }, elsewhere)
  },
}

/** Statuses of heights, rounds and votes that it is not at and does not have, and of blocks there are none of. */
export const liesInStatus: Script = {
  onStatus(liar, { number, round }) {
    if (liar.random.chance(0.05)) liar.post([liar.random.pick(liar.others)], falseStatus(liar, number, round))
  },
}

const falseStatus = (liar: Liar, number: number, round: number): Frame => {
  const { random } = liar
  const bytes = Math.ceil(liar.committee(number).members.length / 8)
  const bitmap = () => new Uint8Array(random.chance(0.1) ? 4 * bytes : bytes).fill(random.pick([0, 255]))
  return encodeFrame({
    type: 'status',
    number: random.pick([number, number, 1, Math.max(1, number - 1), number + 1, number + 1_000_000]),
    round: random.pick([round, round + 1, 0, 2 ** 31]),
    hasProposal: random.chance(0.5),
    prepares: bitmap(),
    commits: bitmap(),
    roundChanges: bitmap(),
    wanted: random.pick<Hex | null>([null, liar.blocksAt(number)[0]?.hash ?? null, `0x${'ab'.repeat(32)}`]),
  })
}
