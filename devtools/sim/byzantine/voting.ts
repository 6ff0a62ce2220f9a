import { CONSENSUS_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import type { Envelope } from '../network/envelope.ts'
import type { ByzantineNode, Script } from './byzantine-node.ts'

/* Scripts of a byzantine voter (docs/design/consensus.md#mutants). */

const FAR_ROUND = 2 ** 31

const vote = (byzantineNode: ByzantineNode, to: readonly number[], number: number, round: number): void => {
  for (const { hash } of byzantineNode.blocksAt(number)) {
    for (const type of ['prepare', 'commit'] as const) {
      const heard = to.filter(() => byzantineNode.random.chance(0.5))
      if (heard.length > 0) byzantineNode.say(heard, { type, number, round, blockHash: hash })
    }
  }
}

/** Votes for every block, to chosen members. */
export const votesForAll: Script = {
  onProposal: (byzantineNode, { number, round }) => vote(byzantineNode, byzantineNode.others, number, round),
  onPrepare(byzantineNode, { number, round }) {
    if (byzantineNode.random.chance(0.2)) vote(byzantineNode, byzantineNode.others, number, round)
  },
}

/** Commits of a round only after a member has left it. */
export const withholdsCommits: Script = {
  onRoundChange(byzantineNode, { number, round }) {
    if (round === 0 || !byzantineNode.once(`withheld ${number} ${round}`)) return
    for (const { hash } of byzantineNode.blocksAt(number))
      byzantineNode.say(byzantineNode.others, { type: 'commit', number, round: round - 1, blockHash: hash })
  },
}

export const commitsToOne: Script = {
  onPrepare(byzantineNode, { number, round, blockHash }) {
    if (!byzantineNode.once(`one ${number} ${round} ${blockHash}`)) return
    const one = [byzantineNode.random.pick(byzantineNode.others)]
    byzantineNode.say(byzantineNode.others, { type: 'prepare', number, round, blockHash })
    byzantineNode.say(one, { type: 'commit', number, round, blockHash })
  },
}

/** Votes honestly, and hides its prepared block in round changes. */
export const withholdsPrepares: Script = {
  onProposal(byzantineNode, { number, round, block }) {
    if (!byzantineNode.once(`honest ${number} ${round}`)) return
    for (const type of ['prepare', 'commit'] as const)
      byzantineNode.say(byzantineNode.others, { type, number, round, blockHash: block.hash })
  },
  onRoundChange(byzantineNode, { number, round }) {
    if (!byzantineNode.once(`hidden ${number} ${round}`)) return
    const shown = byzantineNode.random.chance(0.3) ? byzantineNode.preparedBelow(number, round) : undefined
    const first = shown?.[0]
    const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
    byzantineNode.say(byzantineNode.others, { type: 'roundChange', number, round, prepared, prepares: shown ?? [] })
  },
}

/** Draws the others on to rounds without members. */
export const pushesRounds: Script = {
  onStatus(byzantineNode, { number, round }) {
    if (!byzantineNode.random.chance(0.1)) return
    const ahead = round + 1 + byzantineNode.random.below(20)
    const to = byzantineNode.others.filter(() => byzantineNode.random.chance(0.6))
    byzantineNode.say(to, { type: 'roundChange', number, round: ahead, prepared: null, prepares: [] })
  },
}

export const floodsRounds: Script = {
  onStatus(byzantineNode, { number }) {
    if (!byzantineNode.random.chance(0.2)) return
    for (let count = 0; count < 3; count++) {
      const round = FAR_ROUND + byzantineNode.random.below(1_000_000)
      byzantineNode.say(byzantineNode.others, { type: 'roundChange', number, round, prepared: null, prepares: [] })
    }
  },
  onProposal(byzantineNode, { number, block }) {
    if (!byzantineNode.random.chance(0.3)) return
    const round = 1 + byzantineNode.random.below(FAR_ROUND)
    byzantineNode.say(byzantineNode.others, { type: 'commit', number, round, blockHash: block.hash })
  },
}

/** Replays old messages of others, and its own votes for another chain. */
export const replays: Script = {
  onStatus(byzantineNode, { number }) {
    if (byzantineNode.frames.length === 0 || !byzantineNode.random.chance(0.3)) return
    byzantineNode.post(
      [byzantineNode.random.pick(byzantineNode.others)],
      byzantineNode.random.pick(byzantineNode.frames),
    )
    const block = byzantineNode.blocksAt(number)[0]
    if (block === undefined) return
    const elsewhere = { ...byzantineNode.options.domain, chainId: byzantineNode.options.domain.chainId + 1 }
    byzantineNode.say(byzantineNode.others, { type: 'commit', number, round: 0, blockHash: block.hash }, elsewhere)
  },
}

/** Bytes that are no message, too many of them, or a message with one byte changed. */
export const sendsGarbage: Script = {
  onStatus(byzantineNode) {
    if (byzantineNode.random.chance(0.3)) byzantineNode.post(byzantineNode.others, garbage(byzantineNode))
  },
}

const garbage = (byzantineNode: ByzantineNode): Envelope => {
  const { random } = byzantineNode
  const known = byzantineNode.frames.length > 0 ? random.pick(byzantineNode.frames) : undefined
  if (known !== undefined && random.chance(0.6)) {
    const bytes = known.bytes.slice()
    bytes[random.below(bytes.byteLength)] = random.below(256)
    return { type: known.type, bytes }
  }
  const length = random.chance(0.1) ? CONSENSUS_BOUNDS.voteBytes + 1 : random.below(200)
  return { type: 'vote', bytes: Uint8Array.from({ length }, () => random.below(256)) }
}
