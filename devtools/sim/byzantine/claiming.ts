import type { Hex } from '@tandem/base/bytes.ts'
import type { RoundChange } from '../../../src/primitives/consensus/vote.ts'
import { type Envelope, encodeEnvelope } from '../network/envelope.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'
import { forgedPrepares, noSignature } from './forgeries.ts'

/* False votes and round changes, in the node's own name and in those of others. */

/** Round changes with a false claim of a prepared block, or with invalid prepares as proof. */
export const forgesClaims: Script = {
  onRoundChange(byzantineNode, { number, round }) {
    if (round === 0 || !byzantineNode.once(`claims ${number} ${round}`)) return
    const height = byzantineNode.heightAt(number)
    if (height === undefined) return
    const known = byzantineNode.blocksAt(number)
    const { hash: blockHash } = known.length > 0 ? byzantineNode.random.pick(known) : byzantineNode.makeBlock(height)
    // Sometimes of the round itself, or of a later one.
    const claimed = Math.max(0, round - 1 + (byzantineNode.random.chance(0.2) ? byzantineNode.random.below(3) : 0))
    const prepared = byzantineNode.random.chance(0.1) ? null : { round: claimed, blockHash }
    const prepares = forgedPrepares(byzantineNode, number, claimed, blockHash)
    byzantineNode.say(byzantineNode.others, { type: 'roundChange', number, round, prepared, prepares })
  },
}

/** Round change of an honest member, whose signature does not cover its prepares: without them, or with others. */
export const stripsClaims: Script = {
  onRoundChange(byzantineNode, change) {
    if (change.prepared === null || !byzantineNode.random.chance(0.5)) return
    const { round, blockHash } = change.prepared
    const prepares = byzantineNode.random.chance(0.5)
      ? []
      : forgedPrepares(byzantineNode, change.number, round, blockHash)
    const stripped: RoundChange = { ...change, prepares }
    byzantineNode.post(byzantineNode.others, encodeEnvelope(stripped))
  },
}

/** Votes in the names of others: with its own signature, an invalid one, or theirs from another position. */
export const votesForOthers: Script = {
  onPrepare(byzantineNode, prepare) {
    if (!byzantineNode.random.chance(0.1)) return
    const { number, round, blockHash } = prepare
    const type = byzantineNode.random.pick(['prepare', 'commit'] as const)
    const place = {
      type,
      number,
      round: round + byzantineNode.random.below(2),
      blockHash: byzantineNode.random.pick(byzantineNode.blocksAt(number))?.hash ?? blockHash,
    }
    const own = byzantineNode.sign(place)
    const forged = byzantineNode.committee(number).members.map((_, sender) => {
      const theirs = sender === prepare.sender ? prepare.signature : noSignature(byzantineNode)
      return { ...place, sender, signature: byzantineNode.random.pick([own, theirs]) }
    })
    for (const vote of forged)
      byzantineNode.post([byzantineNode.random.pick(byzantineNode.others)], encodeEnvelope(vote))
  },
}

/** Votes of an earlier height or round presented as current, and its own for another genesis. */
export const replaysElsewhere: Script = {
  onStatus(byzantineNode, { number, round }) {
    if (!byzantineNode.random.chance(0.05)) return
    const old = [
      ...byzantineNode.commitsAt(number - 1),
      ...byzantineNode.preparesAt(number - 1),
      ...byzantineNode.preparesAt(number),
    ]
    const { hash: blockHash } = byzantineNode.blocksAt(number)[0] ?? {}
    if (old.length === 0 || blockHash === undefined) return
    const vote = byzantineNode.random.pick(old)
    byzantineNode.post(byzantineNode.others, encodeEnvelope({ ...vote, number, round, blockHash }))
    const elsewhere = { ...byzantineNode.options.domain, genesisHash: blockHash }
    byzantineNode.say(
      [byzantineNode.random.pick(byzantineNode.others)],
      { type: 'prepare', number, round, blockHash },
      elsewhere,
    )
  },
}

/** Status messages with false heights, rounds and votes, and with hashes of missing blocks. */
export const sendsFalseStatus: Script = {
  onStatus(byzantineNode, { number, round }) {
    if (byzantineNode.random.chance(0.05))
      byzantineNode.post([byzantineNode.random.pick(byzantineNode.others)], falseStatus(byzantineNode, number, round))
  },
}

const falseStatus = (byzantineNode: ByzantineNode, number: number, round: number): Envelope => {
  const { random } = byzantineNode
  const bytes = Math.ceil(byzantineNode.committee(number).members.length / 8)
  const bitmap = () => new Uint8Array(random.chance(0.1) ? 4 * bytes : bytes).fill(random.pick([0, 255]))
  return encodeEnvelope({
    type: 'status',
    number: random.pick([number, number, 1, Math.max(1, number - 1), number + 1, number + 1_000_000]),
    round: random.pick([round, round + 1, 0, 2 ** 31]),
    hasProposal: random.chance(0.5),
    prepares: bitmap(),
    commits: bitmap(),
    roundChanges: bitmap(),
    wanted: random.pick<Hex | null>([null, byzantineNode.blocksAt(number)[0]?.hash ?? null, `0x${'ab'.repeat(32)}`]),
  })
}
