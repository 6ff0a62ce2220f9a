import type { Hex } from '@tandem/base/bytes.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import { describeMessage, short } from '../network/envelope.ts'
import type { Report } from './violation.ts'

/** Committee of a height, for counting votes. */
export interface VotingCommittee {
  readonly size: number
  readonly byzantine: number
}

interface Height {
  /** Honest members that committed, by `round hash`. */
  readonly commits: Map<string, Set<number>>
  /** Lowest round in which a quorum may have committed, by block. */
  readonly sealed: Map<Hex, number>
  /** Highest round for which any honest member gave up the previous one. */
  round: number
}

/** Rounds of a height without faults; and of one with many Byzantine members, of which each may be the next proposer, beyond theirs. */
const MOST_ROUNDS = 10
const ROUNDS_BEYOND = 3

/**
 * Votes of all honest members at a height, with every byzantine member added to each count. Such a quorum may never be decided,
 * but a certificate of it could exist, so nothing may contradict it (docs/design/consensus.md#invariants,
 * docs/design/network.md#block-sync).
 */
export class VoteTotals {
  /** Highest round for which any honest member gave up the previous one. */
  maxRound = 0
  /** The same above height 1, in which members wait for the first reports before they sign. */
  maxLaterRound = 0
  /** Most rounds of a height after the end of the faults. */
  maxHealedRounds = 0
  /** Rounds of the heights at the end of the faults, from which theirs are counted; null: faults go on. */
  #healedRounds: ReadonlyMap<number, number> | null = null
  readonly #heights = new Map<number, Height>()
  readonly #report: Report
  readonly #committeeAt: (number: number) => VotingCommittee

  constructor(report: Report, committeeAt: (number: number) => VotingCommittee) {
    this.#report = report
    this.#committeeAt = committeeAt
  }

  /**
   * Called when all faults have ended and all honest members are started. From here on a height takes at most ten rounds, or three more than
   * its committee has Byzantine members: the open one from the round that any honest member has reached, later ones from round 0.
   */
  heal(): void {
    this.#healedRounds = new Map([...this.#heights].map(([number, { round }]) => [number, round]))
  }

  add(node: number, message: SignedMessage): void {
    const height = this.#heightOf(message.number)
    if (message.type === 'commit') this.#addCommit(height, node, message.number, message.round, message.blockHash)
    if (message.type === 'prepare') this.#checkLock(height, node, message)
    if (message.type === 'roundChange') this.#checkJump(height, node, message)
  }

  #addCommit(height: Height, node: number, number: number, round: number, hash: Hex): void {
    const key = `${round} ${hash}`
    const senders = height.commits.get(key) ?? new Set()
    height.commits.set(key, senders.add(node))
    const { size, byzantine } = this.#committeeAt(number)
    // Counted here independently: the engine's own arithmetic may be wrong.
    if (3 * (senders.size + byzantine) < 2 * size) return
    height.sealed.set(hash, Math.min(height.sealed.get(hash) ?? round, round))
    if (height.sealed.size < 2) return
    const blocks = [...height.sealed].map(([block, at]) => `${short(block)} in round ${at}`)
    this.#report('certificate', `height ${number} could be decided for ${blocks.join(' and ')}`)
  }

  #checkLock({ sealed }: Height, node: number, prepare: Extract<SignedMessage, { type: 'prepare' }>): void {
    for (const [hash, round] of sealed) {
      if (hash === prepare.blockHash || prepare.round <= round) continue
      const text = `member ${node} sent ${describeMessage(prepare)} although ${short(hash)} was committed in round ${round}`
      this.#report('lock', text)
    }
  }

  /** No member may be more than one round beyond all other honest members. */
  #checkJump(height: Height, node: number, { number, round }: SignedMessage): void {
    if (round > height.round + 1) {
      this.#report('jump', `member ${node} went to ${number}/${round}, the others are at ${height.round} at most`)
    }
    height.round = Math.max(height.round, round)
    this.maxRound = Math.max(this.maxRound, round)
    if (number > 1) this.maxLaterRound = Math.max(this.maxLaterRound, round)
    if (this.#healedRounds !== null) this.#countRounds(number, round - (this.#healedRounds.get(number) ?? 0))
  }

  #countRounds(number: number, rounds: number): void {
    this.maxHealedRounds = Math.max(this.maxHealedRounds, rounds)
    const most = Math.max(MOST_ROUNDS, this.#committeeAt(number).byzantine + ROUNDS_BEYOND)
    if (rounds > most)
      this.#report('rounds', `height ${number} takes ${rounds} rounds without faults, the bound is ${most}`)
  }

  #heightOf(number: number): Height {
    let height = this.#heights.get(number)
    if (height === undefined) {
      height = { commits: new Map(), sealed: new Map(), round: 0 }
      this.#heights.set(number, height)
    }
    return height
  }
}
