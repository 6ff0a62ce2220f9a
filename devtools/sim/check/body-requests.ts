import type { Hex } from '@tandem/base/bytes.ts'
import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import { proposerOf } from '../../../src/consensus/committee.ts'
import type { CommitteePort } from '../../../src/consensus/ports.ts'
import type { ConsensusMessage, StatusMessage } from '../../../src/primitives/consensus/message.ts'
import type { Commit, RoundChange } from '../../../src/primitives/consensus/vote.ts'
import { short } from '../network/envelope.ts'

interface Place {
  readonly number: number
  readonly round: number
}

interface BodyRequestsOptions {
  readonly self: Hex
  readonly committee: CommitteePort['committee']
  /** Returns false once this height is being committed. */
  readonly isOpen: (number: number) => boolean
  /** Runs a check once the process must have done all that it was about to do. */
  readonly soon: (check: () => void) => void
  readonly report: (text: string) => void
}

/** Messages of one height about bodies, as one process was told and has said them. */
interface Height {
  /** Senders of commits, by `round hash`. */
  readonly commits: Map<string, Set<number>>
  /** Commits that count, by `round sender`. */
  readonly votes: Map<string, Hex>
  /** The round changes that count: the highest of each sender, the first of its round. */
  readonly changes: Map<number, RoundChange>
  /** Blocks that were claimed as prepared, by the round of the claim. */
  readonly claims: Map<number, Set<Hex>>
  readonly arrived: Set<Hex>
  /** Blocks with a quorum of commits that count. */
  readonly sealed: Set<Hex>
  /** Rounds for which the process has proposed. */
  readonly proposed: Set<number>
  round: number
  /** Bodies named in this round. */
  readonly named: Set<Hex>
  last: Hex | null
}

/**
 * Bodies that one process requests (docs/design/consensus.md#missing-bodies). A block with a quorum of commits is requested in all rounds; others
 * only by the proposer of a round, of claims made for it: then every one that would complete a quorum, in turn.
 */
export class BodyRequests {
  readonly #options: BodyRequestsOptions
  readonly #heights = new Map<number, Height>()

  constructor(options: BodyRequestsOptions) {
    this.#options = options
  }

  /** Records a message before the process has it: of a forged one no more is asked, and it may take any. */
  told(message: ConsensusMessage): void {
    if ('block' in message) this.#at(message.block.header.number).arrived.add(message.block.hash)
    if (message.type === 'commit')
      addTo(this.#at(message.number).commits, `${message.round} ${message.blockHash}`, message.sender)
    if (message.type === 'roundChange' && message.prepared !== null)
      addTo(this.#at(message.number).claims, message.round, message.prepared.blockHash)
  }

  /** Records a message that the process accepted in this place. */
  accepted(message: ConsensusMessage, open: Place): void {
    if (message.type === 'commit' && message.number === open.number) this.#committed(message, open.round)
    if (message.type !== 'roundChange') return
    const { changes } = this.#at(message.number)
    if (message.round > (changes.get(message.sender)?.round ?? -1)) changes.set(message.sender, message)
  }

  /** Records a message of the process itself, and checks what it requests. */
  said(message: ConsensusMessage): void {
    if (message.type === 'status') {
      this.#requests(message)
      return
    }
    this.told(message)
    if (message.type === 'roundChange') this.#at(message.number).changes.set(message.sender, message)
    if (message.type === 'proposal') this.#at(message.number).proposed.add(message.round)
  }

  /** The process has left its height: what it accepted for that one is gone, but for its own. Messages of later heights stay. */
  left(): void {
    for (const { votes, changes, sealed, named } of this.#heights.values())
      for (const gone of [votes, changes, sealed, named]) gone.clear()
  }

  /** The first commit of each sender and round counts, unless it is of a round too far from that of the process. */
  #committed({ number, round, blockHash, sender }: Commit, open: number): void {
    const { votes, sealed } = this.#at(number)
    const place = `${round} ${sender}`
    if (votes.has(place) || Math.abs(round - open) > CONSENSUS_LIMITS.futureRounds) return
    votes.set(place, blockHash)
    const count = [...votes].filter(([at, hash]) => hash === blockHash && at.startsWith(`${round} `)).length
    if (this.#isQuorum(number, count)) this.#options.soon(() => sealed.add(blockHash))
  }

  #requests(status: StatusMessage): void {
    const { number, round, wanted } = status
    const { report, isOpen, soon } = this.#options
    for (const old of this.#heights.keys()) if (old < number) this.#heights.delete(old)
    const height = this.#at(number)
    if (round !== height.round) height.named.clear()
    const last = round === height.round ? height.last : null
    height.round = round
    height.last = wanted
    const place = `${number}/${round}`
    if (wanted === null) {
      const [sealed] = height.sealed
      if (sealed === undefined) return
      soon(() => {
        if (isOpen(number)) report(`has a quorum of commits for ${short(sealed)}, and in ${place} does not request it`)
      })
      return
    }
    const missing = [...height.named].filter(hash => !height.arrived.has(hash))
    height.named.add(wanted)
    if (wanted === last && missing.some(hash => hash !== wanted))
      report(`requests ${short(wanted)} twice in ${place}, while others are missing`)
    if (this.#isSealed(height, number, wanted)) return
    if (!this.#isProposer(number, round) || !height.claims.get(round)?.has(wanted)) {
      report(`requests ${short(wanted)} in ${place}, where it has no use for it`)
      return
    }
    const owed = this.#claimed(height, number, round)
    soon(() => {
      const left = owed.find(hash => !height.named.has(hash))
      const isOver = height.round !== round || height.proposed.has(round) || owed.some(hash => height.arrived.has(hash))
      if (left !== undefined && !isOver && isOpen(number))
        report(`requests ${short(wanted)} in ${place}, and not ${short(left)}, which would do`)
    })
  }

  /** Returns the blocks that would be proposed, highest claim first: each with all round changes of the round at or below it. */
  #claimed({ changes }: Height, number: number, round: number): readonly Hex[] {
    const blocks: Hex[] = []
    let chosen = [...changes.values()].filter(change => change.round === round)
    while (this.#isQuorum(number, chosen.length)) {
      const highest = chosen.reduce((most, { prepared }) => Math.max(most, prepared?.round ?? -1), -1)
      const block = chosen.find(({ prepared }) => prepared?.round === highest)?.prepared?.blockHash
      if (block === undefined) return []
      blocks.push(block)
      chosen = chosen.filter(({ prepared }) => (prepared?.round ?? -1) < highest)
    }
    return blocks
  }

  #isSealed({ commits }: Height, number: number, hash: Hex): boolean {
    return [...commits].some(([key, senders]) => key.endsWith(hash) && this.#isQuorum(number, senders.size))
  }

  #isQuorum(number: number, count: number): boolean {
    return 3 * count >= 2 * (this.#options.committee(number)?.members.length ?? Number.POSITIVE_INFINITY)
  }

  #isProposer(number: number, round: number): boolean {
    const committee = this.#options.committee(number)
    return committee !== undefined && proposerOf(committee, number, round) === this.#options.self
  }

  #at(number: number): Height {
    let height = this.#heights.get(number)
    if (height === undefined) {
      height = {
        commits: new Map(),
        votes: new Map(),
        changes: new Map(),
        claims: new Map(),
        arrived: new Set(),
        sealed: new Set(),
        proposed: new Set(),
        round: -1,
        named: new Set(),
        last: null,
      }
      this.#heights.set(number, height)
    }
    return height
  }
}

const addTo = <Key, Value>(where: Map<Key, Set<Value>>, key: Key, value: Value): ReadonlySet<Value> => {
  const values = where.get(key) ?? new Set<Value>()
  where.set(key, values.add(value))
  return values
}
