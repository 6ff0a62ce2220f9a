import { LIMITS } from '../../config/limits.ts'
import type { Frame } from '../envelope.ts'
import type { Liar } from './byzantine-node.ts'
import type { Script } from './script.ts'

/* What a dishonest voter does (reference/consensus.md 2.4). */

const FAR_ROUND = 2 ** 31

const vote = (liar: Liar, to: readonly number[], number: number, round: number): void => {
  for (const { hash } of liar.blocksAt(number)) {
    for (const type of ['prepare', 'commit'] as const) {
      const heard = to.filter(() => liar.random.chance(0.5))
      if (heard.length > 0) liar.say(heard, { type, number, round, blockHash: hash })
    }
  }
}

/** Every block there is, to whom it likes. */
export const votesForAll: Script = {
  onProposal: (liar, { number, round }) => vote(liar, liar.others, number, round),
  onPrepare(liar, { number, round }) {
    if (liar.random.chance(0.2)) vote(liar, liar.others, number, round)
  },
}

/** Commits of a round only once somebody left it. */
export const withholdsCommits: Script = {
  onRoundChange(liar, { number, round }) {
    if (round === 0 || !liar.once(`withheld ${number} ${round}`)) return
    for (const { hash } of liar.blocksAt(number))
      liar.say(liar.others, { type: 'commit', number, round: round - 1, blockHash: hash })
  },
}

export const commitsToOne: Script = {
  onPrepare(liar, { number, round, blockHash }) {
    if (!liar.once(`one ${number} ${round} ${blockHash}`)) return
    const one = [liar.random.pick(liar.others)]
    liar.say(liar.others, { type: 'prepare', number, round, blockHash })
    liar.say(one, { type: 'commit', number, round, blockHash })
  },
}

/** Votes like an honest one, and says nothing of it when the round changes. */
export const hidesThePrepared: Script = {
  onProposal(liar, { number, round, block }) {
    if (!liar.once(`honest ${number} ${round}`)) return
    for (const type of ['prepare', 'commit'] as const)
      liar.say(liar.others, { type, number, round, blockHash: block.hash })
  },
  onRoundChange(liar, { number, round }) {
    if (!liar.once(`hidden ${number} ${round}`)) return
    const shown = liar.random.chance(0.3) ? liar.preparedBelow(number, round) : undefined
    const first = shown?.[0]
    const prepared = first === undefined ? null : { round: first.round, blockHash: first.blockHash }
    liar.say(liar.others, { type: 'roundChange', number, round, prepared, prepares: shown ?? [] })
  },
}

/** Draws the others on to rounds where nobody is. */
export const pushesRounds: Script = {
  onStatus(liar, { number, round }) {
    if (!liar.random.chance(0.1)) return
    const ahead = round + 1 + liar.random.below(20)
    const to = liar.others.filter(() => liar.random.chance(0.6))
    liar.say(to, { type: 'roundChange', number, round: ahead, prepared: null, prepares: [] })
  },
}

export const floodsRounds: Script = {
  onStatus(liar, { number }) {
    if (!liar.random.chance(0.2)) return
    for (let count = 0; count < 3; count++) {
      const round = FAR_ROUND + liar.random.below(1_000_000)
      liar.say(liar.others, { type: 'roundChange', number, round, prepared: null, prepares: [] })
    }
  },
  onProposal(liar, { number, block }) {
    if (!liar.random.chance(0.3)) return
    const round = 1 + liar.random.below(FAR_ROUND)
    liar.say(liar.others, { type: 'commit', number, round, blockHash: block.hash })
  },
}

/** What others said long ago, and its own votes for another chain. */
export const replays: Script = {
  onStatus(liar, { number }) {
    if (liar.frames.length === 0 || !liar.random.chance(0.3)) return
    liar.post([liar.random.pick(liar.others)], liar.random.pick(liar.frames))
    const block = liar.blocksAt(number)[0]
    if (block === undefined) return
    const elsewhere = { ...liar.options.domain, chainId: liar.options.domain.chainId + 1 }
    liar.say(liar.others, { type: 'commit', number, round: 0, blockHash: block.hash }, elsewhere)
  },
}

/** Bytes that are no message, too many of them, or a message with one byte changed. */
export const sendsGarbage: Script = {
  onStatus(liar) {
    if (liar.random.chance(0.3)) liar.post(liar.others, garbage(liar))
  },
}

const garbage = (liar: Liar): Frame => {
  const { random } = liar
  const known = liar.frames.length > 0 ? random.pick(liar.frames) : undefined
  if (known !== undefined && random.chance(0.6)) {
    const bytes = known.bytes.slice()
    bytes[random.below(bytes.byteLength)] = random.below(256)
    return { type: known.type, bytes }
  }
  const length = random.chance(0.1) ? LIMITS.consensus.voteBytes + 1 : random.below(200)
  return { type: 'vote', bytes: Uint8Array.from({ length }, () => random.below(256)) }
}
