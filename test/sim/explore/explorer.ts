import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { createForge } from './forge.ts'
import { advance, hearing, type MemberSetup, openMember } from './member.ts'
import { MemberGraph } from './member-graph.ts'
import { compatible, dropDead, type MessageSoup, messageSoup } from './message-soup.ts'
import type { Move, Moves } from './moves.ts'
import { type Claim, NOTHING, preparedClaim, roundOfClaim, type SignedStatements, valueOfClaim } from './said.ts'
import { VALUES, type Value } from './values.ts'

/** Which moves what was said so far allows. Byzantine members stand in every quorum. */
const movesOn = (moves: Moves, quorum: number, byzantine: number, rounds: number) => {
  const enough = (honest: number | undefined): boolean => (honest as number) + byzantine >= quorum

  /** Proposals that build on a claim, or pretend to. */
  const onClaims = (messageSoup: MessageSoup, round: number, proven: ReadonlySet<Claim>): readonly Move[] => {
    const usable: Move[] = []
    for (let claim = NOTHING + 1; claim < preparedClaim(round, 0); claim++) {
      const place = enough(compatible(messageSoup, round, claim))
      if (place && proven.has(claim)) usable.push(moves.again[round]?.[claim] as Move)
      if (place && !proven.has(claim)) {
        usable.push(...(moves.forged[round]?.[claim] ?? []))
        for (const earlier of proven)
          if (roundOfClaim(earlier) < roundOfClaim(claim) && valueOfClaim(earlier) === valueOfClaim(claim))
            usable.push(moves.stale[round]?.[claim]?.[earlier] as Move)
      }
      for (const later of proven.has(claim) ? proven : []) {
        const contradicts = roundOfClaim(later) > roundOfClaim(claim) && valueOfClaim(later) !== valueOfClaim(claim)
        if (contradicts && messageSoup.changes[round]?.[later])
          usable.push(moves.lower[round]?.[claim]?.[later] as Move)
      }
    }
    return usable
  }

  return (messageSoup: MessageSoup): readonly Move[] => {
    const usable: Move[] = []
    const proven = new Set<Claim>()
    for (let round = 0; round < rounds; round++) {
      for (const value of VALUES) {
        if (round === 0 || enough(messageSoup.changes[round]?.[NOTHING]))
          usable.push(moves.fresh[round]?.[value] as Move)
        else if (enough((messageSoup.changes[round]?.[NOTHING] as number) + 1))
          usable.push(moves.thin[round]?.[value] as Move)
      }
      if (enough(messageSoup.changed[round])) usable.push(...onClaims(messageSoup, round, proven))
      for (const value of VALUES) {
        if (!enough(messageSoup.prepares[round]?.[value])) continue
        usable.push(moves.prepares[round]?.[value] as Move)
        proven.add(preparedClaim(round, value))
      }
    }
    return usable
  }
}

export interface ExploreOptions {
  readonly size: number
  readonly byzantine: number
  readonly rounds: number
  /** Members differ by their index; off, they are interchangeable and states that differ by their order count once. */
  readonly identities: boolean
  /** Gives up beyond this many states. */
  readonly maxStates: number
}

export interface Exploration {
  readonly states: number
  /** States of one member alone, each reached by the core itself. */
  readonly members: number
  /** Runs of the core behind them. */
  readonly runs: number
  readonly depth: number
  /** True when every state was visited. */
  readonly complete: boolean
  /** How two blocks came to be decided; null: never. */
  readonly fork: readonly string[] | null
}

/**
 * Everything that can happen at one height within some rounds (docs/design/consensus.md#mutants), over the core itself. The adversary
 * makes every proposal, says anything as a Byzantine member, delivers and withholds as it likes, fires any timer, and cuts any
 * member's power. Reductions, each of which leaves every fork in:
 * - A delivery after which a member says and logs nothing is put off until one does: votes are delivered by whole quorums.
 * - What is said can be heard at any later time, and what a member does in a round depends on nothing said in later ones. So
 *   whatever happened can be put in order of rounds: nobody enters a round before all are done with the one before
 *   (communication-closed layers). Then all enter it, since a member that stays behind says less.
 * - Jumping over rounds, or entering one by its proposal, says less than giving up each round before.
 * - Round changes to rounds that are over, and prepares short of a quorum in them, are of no use any more.
 * - Proposers are all the adversary's, so honest members are alike, and their order does not count.
 * - Commits are read by an observer: a member that decided says less than one that did not.
 * - Two blocks suffice: consensus compares blocks and never looks into them.
 * A member's step depends only on its state and its input, so the core runs once for each such pair; whole states are
 * tuples of member states, breadth first.
 */
export const explore = (options: ExploreOptions): Exploration => new Explorer(options).run()

class Explorer {
  readonly #options: ExploreOptions
  readonly #graph: MemberGraph
  readonly #observer
  readonly #states = new StateSet()
  readonly #usable

  constructor(options: ExploreOptions) {
    const { size, byzantine, rounds, identities } = options
    const honest = size - byzantine
    this.#options = options
    this.#graph = new MemberGraph(options)
    this.#observer = createDecisionObserver({ values: this.#graph.values, size, rounds }, byzantine)
    this.#usable = movesOn(this.#graph.moves, quorumOf(size), byzantine, rounds)
    const members = Array.from({ length: honest }, (_, index) => this.#graph.start(identities ? index : 0))
    this.#states.add(members, -1, 'opens the height')
  }

  run(): Exploration {
    for (let at = 0; at < this.#states.size; at++) {
      const members = this.#states.get(at)
      if (this.#observer.isForked(members.map(member => this.#graph.saidBy(member)))) return this.#answer(false, at)
      if (this.#states.size > this.#options.maxStates) return this.#answer(false, null)
      this.#actAlone(at, members)
      this.#leaveRound(at, members)
    }
    return this.#answer(true, null)
  }

  #actAlone(at: number, members: readonly number[]): void {
    const said = members.map(member => this.#graph.saidBy(member))
    const moves = this.#usable(messageSoup(said, this.#options.rounds))
    for (const [node, member] of members.entries()) {
      for (const move of [...this.#graph.freeMoves(member), ...moves]) {
        const next = this.#graph.after(member, move)
        // To refuse a proposal is to give up the round, which all do together.
        if (next === member || next === this.#graph.afterTimeout(member)) continue
        this.#add(members.with(node, next), at, `member ${node} ${move.name}`)
      }
    }
  }

  /** Those in the lowest round give it up; what was said in it and cannot be used any more is forgotten. */
  #leaveRound(at: number, members: readonly number[]): void {
    const lowest = Math.min(...members.map(member => this.#graph.roundOf(member)))
    if (lowest + 1 >= this.#options.rounds) return
    const next = members.map(member =>
      this.#graph.roundOf(member) === lowest ? this.#graph.afterTimeout(member) : member,
    )
    const said = next.map(member => this.#graph.saidBy(member))
    const { size, byzantine } = this.#options
    const kept = dropDead(said, lowest + 1, quorumOf(size) - byzantine)
    const state = next.map((member, node) => this.#graph.saying(member, kept[node]!))
    this.#add(state, at, `all give up round ${lowest}`)
  }

  #add(members: readonly number[], from: number, step: string): void {
    const state = this.#options.identities ? members : members.toSorted((a, b) => a - b)
    this.#states.add(state, from, step)
  }

  #answer(complete: boolean, forkedAt: number | null): Exploration {
    return {
      states: this.#states.size,
      members: this.#graph.size,
      runs: this.#graph.runs,
      depth: this.#states.depth,
      complete,
      fork: forkedAt === null ? null : this.#states.path(forkedAt),
    }
  }
}

/**
 * Decision of a follower that receives all commits: those of honest members, and any that Byzantine ones could
 * give, twice over. The core itself says so; equal commits are asked about once.
 */
const createDecisionObserver = (setup: Omit<MemberSetup, 'index'>, byzantine: number) => {
  const follower = { ...setup, index: -1 }
  const forge = createForge(setup.values, setup.size)
  const known = new Map<string, boolean>()
  const fresh = openMember(follower)
  const commitsFor = (value: Value, said: readonly SignedStatements[]) =>
    Array.from({ length: setup.rounds }, (_, round) => {
      const honest = said.flatMap(({ commits }, at) => ((commits[round] as number) & (1 << value) ? [at] : []))
      const liars = Array.from({ length: byzantine }, (_, at) => setup.size - 1 - at)
      return [...honest, ...liars, ...liars].map(sender => forge.commit(sender, round, value))
    }).flat()
  const decides = (value: Value, said: readonly SignedStatements[]): boolean => {
    const key = `${value} ${said.map(({ commits }) => commits.map(bits => (bits >> value) & 1).join('')).join(' ')}`
    let answer = known.get(key)
    if (answer === undefined) {
      const body = { type: 'body', block: setup.values.block(value, 0) } as const
      answer = advance(follower, fresh, hearing([...commitsFor(value, said), body])).decided !== null
      known.set(key, answer)
    }
    return answer
  }
  return {
    /** True when certificates of both blocks exist. */
    isForked: (said: readonly SignedStatements[]): boolean => VALUES.every(value => decides(value, said)),
  }
}

/** Visited states in the order found, each with the step that first led there. A state is a tuple of member numbers. */
class StateSet {
  readonly #known = new Set<string>()
  readonly #states: (readonly number[])[] = []
  readonly #parents: number[] = []
  readonly #steps: string[] = []
  readonly #depths: number[] = []

  get size(): number {
    return this.#states.length
  }

  get depth(): number {
    return this.#depths.at(-1) ?? 0
  }

  get(at: number): readonly number[] {
    return this.#states[at] as readonly number[]
  }

  add(state: readonly number[], parent: number, step: string): void {
    const key = String.fromCharCode(...state)
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.#states.push(state)
    this.#parents.push(parent)
    this.#steps.push(step)
    this.#depths.push(parent < 0 ? 0 : (this.#depths[parent] as number) + 1)
  }

  /** The steps that led to a state, first one first. */
  path(at: number): readonly string[] {
    const steps: string[] = []
    for (let state = at; (this.#parents[state] as number) >= 0; state = this.#parents[state] as number) {
      steps.push(this.#steps[state] as string)
    }
    return steps.reverse()
  }
}
