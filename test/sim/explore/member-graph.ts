import type { Hex } from '@tandem/base/bytes.ts'
import { advance, type ExploredMember, heightOf, type MemberSetup, openMember } from './member.ts'
import { createMoves, type Move, type Moves } from './moves.ts'
import type { SignedStatements } from './said.ts'
import { createValues, VALUES, type Values } from './values.ts'

interface Node {
  readonly member: ExploredMember
  readonly index: number
  /** Successor by move; known ones only. */
  readonly next: Map<number, number>
  free: readonly Move[] | null
}

interface GraphOptions {
  readonly size: number
  readonly byzantine: number
  readonly rounds: number
}

/** The states a member can be in, by number, and where each move leads: grown as it is asked for, one run of the core each. */
export class MemberGraph {
  readonly values: Values = createValues()
  readonly moves: Moves
  readonly #options: GraphOptions
  readonly #nodes: Node[] = []
  readonly #numbers = new Map<string, number>()
  runs = 0

  constructor(options: GraphOptions) {
    this.#options = options
    this.moves = createMoves({ ...options, values: this.values })
  }

  get size(): number {
    return this.#nodes.length
  }

  saidBy(member: number): SignedStatements {
    return this.#node(member).member.said
  }

  /** The member with this committee index when the height opens. */
  start(index: number): number {
    return this.#number(openMember(this.#setup(index)), index)
  }

  roundOf(member: number): number {
    return heightOf(this.#node(member).member).round
  }

  /** State of a member after it gives up its round. */
  afterTimeout(member: number): number {
    return this.after(member, this.moves.timeout)
  }

  /** The same member when others remember less of what it said. */
  saying(member: number, said: SignedStatements): number {
    const node = this.#node(member)
    return this.#number({ ...node.member, said }, node.index)
  }

  #isTimely(member: number, { round }: Move): boolean {
    return round === null || round <= this.roundOf(member)
  }

  /** State after a move; the same number when the move has no effect. */
  after(member: number, move: Move): number {
    const node = this.#node(member)
    if (!this.#isTimely(member, move)) return member
    const known = node.next.get(move.id)
    if (known !== undefined) return known
    const next = this.#run(node, move)
    const number = next === null ? member : this.#number(next, node.index)
    node.next.set(move.id, number)
    return number
  }

  /** Those of the moves that need nothing from others which lead somewhere, one for each place. */
  freeMoves(member: number): readonly Move[] {
    const node = this.#node(member)
    if (node.free === null) {
      const places = new Map<number, Move>()
      for (const move of this.moves.free) {
        const place = this.after(member, move)
        if (place !== member && !places.has(place)) places.set(place, move)
      }
      node.free = [...places.values()]
    }
    return node.free
  }

  #run({ member, index }: Node, move: Move): ExploredMember | null {
    this.runs++
    const setup = this.#setup(index)
    const inputs = move.inputs(member, index)
    if (inputs === 'restart') return openMember(setup, member.log, member.said)
    const next = advance(setup, member, inputs).member
    if (heightOf(next).round >= this.#options.rounds) return null
    return isSilent(member, next) ? null : next
  }

  #number(member: ExploredMember, index: number): number {
    const restarted = openMember(this.#setup(index), member.log, member.said)
    const keys = [member, restarted].map(one => keyOfMember(one, this.values))
    const key = `${index} ${[...new Set(keys)].join()}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#nodes.length)
    return this.#nodes.push({ member, index, next: new Map(), free: null }) - 1
  }

  #setup(index: number): MemberSetup {
    return { values: this.values, size: this.#options.size, index, rounds: this.#options.rounds }
  }

  #node(member: number): Node {
    return this.#nodes[member] as Node
  }
}

/** A delivery that changes neither the log nor what was said is put off. */
const isSilent = (before: ExploredMember, after: ExploredMember): boolean =>
  before.log.length === after.log.length && before.said === after.said

/**
 * Text that is equal for members that behave alike from here on. Left out: timers, who carried a proof (any quorum is as good as
 * another), what was offered in rounds that are over, and the round changes of others, which only a proposer gathers, and every
 * proposal is the adversary's here.
 */
const keyOfMember = (member: ExploredMember, values: Values): string => {
  const { round, proposals, verdicts, accepted, prepared, asked, own, wanted, prepares, commits } = heightOf(member)
  const name = (hash: Hex) => values.valueOf(hash)
  const namesFrom = <T>(map: ReadonlyMap<number, T>, hashOf: (item: T) => Hex) =>
    [...map].filter(([at]) => at >= round).map(([at, item]) => [at, name(hashOf(item))])
  return JSON.stringify([
    round,
    namesFrom(proposals, ({ block }) => block.hash).sort(),
    // Every block here is valid: whether that is known already makes no difference.
    [...verdicts]
      .filter(([, verdict]) => verdict !== 'valid')
      .map(([hash, verdict]) => [name(hash), verdict])
      .sort(),
    namesFrom(accepted, hash => hash).sort(),
    VALUES.map(value => {
      const { hash } = values.block(value, 0)
      return [prepares, commits].map(votes => votes.votesFor(round, hash).map(({ sender }) => sender))
    }),
    prepared && [prepared.round, name(prepared.blockHash)],
    [asked.prepare, asked.commit, asked.roundChange],
    [own.prepare, own.commit, own.roundChange].map(message => message?.round),
    [...wanted].sort(),
    Object.values(member.said),
  ])
}
