import type { Input } from '../../../src/consensus/core/types.ts'
import type { Prepare, RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { createForge } from './forge.ts'
import { type ExploredMember, hearing, heightOf } from './member.ts'
import { type Claim, NOTHING, preparedClaim, roundOfClaim, valueOfClaim } from './said.ts'
import { HEIGHT, VALUES, type Value, type Values } from './values.ts'

/** Something the adversary can do to one member, by a number that never changes within an exploration. */
export interface Move {
  readonly id: number
  readonly name: string
  /** Made only to members in this round or a later one; null to all. */
  readonly round: number | null
  /** 'restart': lose power and come back from the log. */
  readonly inputs: (member: ExploredMember, index: number) => readonly Input[] | 'restart'
}

/** All moves, sorted by what must have been said before they can be made. */
export interface Moves {
  readonly all: readonly Move[]
  readonly timeout: Move
  /** Need nothing from anybody. */
  readonly free: readonly Move[]
  /** A justified proposal of an unprepared block: `[round][value]`. */
  readonly fresh: readonly (readonly Move[])[]
  /** The same with one round change less than a quorum. */
  readonly thin: readonly (readonly Move[])[]
  /** A justified proposal of the block of a claim: `[round][claim]`. */
  readonly again: readonly (readonly Move[])[]
  /** A quorum of prepares: `[round][value]`. */
  readonly prepares: readonly (readonly Move[])[]
  /** A proposal of the block of a claim that no quorum of prepares stands behind: `[round][claim]`, each with its forged proofs. */
  readonly forged: readonly (readonly (readonly Move[])[])[]
  /** A proposal of the block of a claim on prepares of the same block in an earlier round: `[round][claim][earlier claim]`. */
  readonly stale: readonly (readonly (readonly Move[])[])[]
  /** A proposal of the block of a claim while the round changes hold a later claim: `[round][claim][later claim]`. */
  readonly lower: readonly (readonly (readonly Move[])[])[]
}

interface MoveSetup {
  readonly values: Values
  readonly size: number
  readonly byzantine: number
  readonly rounds: number
}

export const createMoves = (setup: MoveSetup): Moves => {
  const { rounds } = setup
  const all: Move[] = []
  const add: Add = (round, name, inputs) => {
    const move = { id: all.length, name, round, inputs }
    all.push(move)
    return move
  }
  const make = makers(setup, add)
  const eachRound = <T>(of: (round: number) => T): readonly T[] =>
    Array.from({ length: rounds }, (_, round) => of(round))
  const claims = Array.from({ length: preparedClaim(rounds - 1, 1) + 1 }, (_, claim) => claim)
  const fresh = eachRound(round => VALUES.map(value => make.fresh(round, value)))
  const thin = eachRound(round => VALUES.map(value => make.thin(round, value)))
  const again = eachRound(round => claims.map(claim => make.again(round, claim)))
  const prepares = eachRound(round => VALUES.map(value => make.prepares(round, value)))
  const lower = eachRound(round => claims.map(claim => claims.map(later => make.lower(round, claim, later))))
  const forged = eachRound(round => claims.map(claim => make.forged(round, claim)))
  const stale = eachRound(round => claims.map(claim => claims.map(earlier => make.stale(round, claim, earlier))))
  const lies = eachRound(round => VALUES.flatMap(value => make.lies(round, value))).flat()
  const power = add(null, 'loses power and restarts', () => 'restart')
  return { all, timeout: make.timeout(), free: [power, ...lies], fresh, thin, again, prepares, forged, stale, lower }
}

type Add = (round: number | null, name: string, inputs: Move['inputs']) => Move

const makers = ({ values, size, byzantine }: MoveSetup, add: Add) => {
  const forge = createForge(values, size)
  const quorum = quorumOf(size)
  const liars = Array.from({ length: byzantine }, (_, at) => size - 1 - at)
  const nobody: readonly Prepare[] = []
  const many = <T>(item: T): readonly T[] => new Array<T>(quorum).fill(item)
  const say = (round: number, name: string, ...messages: Parameters<typeof hearing>[0]) =>
    add(round, name, () => hearing(messages))
  const quorumWith = (first: readonly number[], length = quorum): readonly number[] =>
    [...new Set([...first, ...Array.from({ length: size }, (_, at) => at)])].slice(0, length)
  const changes = (round: number, number = HEIGHT): readonly RoundChangePayload[] =>
    quorumWith(liars).map(sender => forge.change(sender, round, NOTHING, number))
  const proof = (claim: Claim): readonly Prepare[] =>
    quorumWith(liars).map(sender => forge.prepare(sender, roundOfClaim(claim), valueOfClaim(claim)))
  const textOf = (value: Value) => 'AB'[value] as string
  const claimText = (claim: Claim) => `${textOf(valueOfClaim(claim))} of round ${roundOfClaim(claim)}`
  /** `claimed` by the first, `others` by the rest. */
  const claiming = (round: number, ...claims: readonly Claim[]) =>
    quorumWith(liars).map((sender, at) => forge.change(sender, round, claims[at] ?? NOTHING))

  const again = (
    name: string,
    round: number,
    claim: Claim,
    roundChanges: readonly RoundChangePayload[],
    by = proof(claim),
  ) => say(round, name, forge.proposal(round, valueOfClaim(claim), roundOfClaim(claim), roundChanges, by))

  return {
    timeout: () =>
      add(null, 'gives up its round', member => [
        { type: 'timeout', timer: 'round', number: HEIGHT, round: heightOf(member).round, nowMs: 0 },
      ]),
    fresh: (round: number, value: Value) =>
      say(
        round,
        `hears ${textOf(value)} proposed in round ${round}`,
        forge.proposal(round, value, round, round === 0 ? [] : changes(round), nobody),
      ),
    thin: (round: number, value: Value) =>
      say(
        round,
        `hears ${textOf(value)} proposed in round ${round} on one round change less than a quorum`,
        forge.proposal(round, value, round, changes(round).slice(0, -1), nobody),
      ),
    again: (round: number, claim: Claim) =>
      again(`hears ${claimText(claim)} proposed again in round ${round}`, round, claim, claiming(round, claim)),
    forged: (round: number, claim: Claim): readonly Move[] => {
      const repeated = liars
        .slice(0, 1)
        .flatMap(liar => many(forge.prepare(liar, roundOfClaim(claim), valueOfClaim(claim))))
      const text = `hears ${claimText(claim)} proposed again in round ${round}`
      return [
        again(`${text} on no prepares`, round, claim, claiming(round, claim), nobody),
        again(`${text} on one prepare repeated`, round, claim, claiming(round, claim), repeated),
      ]
    },
    stale: (round: number, claim: Claim, earlier: Claim) =>
      again(
        `hears ${claimText(claim)} proposed again in round ${round} on prepares of round ${roundOfClaim(earlier)}`,
        round,
        claim,
        claiming(round, claim),
        proof(earlier),
      ),
    lower: (round: number, claim: Claim, later: Claim) =>
      again(
        `hears ${claimText(claim)} proposed in round ${round} in spite of ${claimText(later)}`,
        round,
        claim,
        claiming(round, claim, later),
      ),
    prepares: (round: number, value: Value) =>
      add(round, `hears a quorum prepare ${textOf(value)} in round ${round}`, (_, index) =>
        hearing(
          quorumWith([...liars, index])
            .filter(sender => sender !== index)
            .map(sender => forge.prepare(sender, round, value)),
        ),
      ),
    /** Messages that Byzantine members can send without any honest one. */
    lies: (round: number, value: Value): readonly Move[] => {
      const liar = liars[0]
      if (liar === undefined) return []
      const text = `${textOf(value)} in round ${round}`
      const votes = say(round, `hears one prepare ${text} often`, ...many(forge.prepare(liar, round, value)))
      const late = say(
        round + 1,
        `hears ${text} proposed late`,
        forge.proposal(round, value, round, round === 0 ? [] : changes(round), nobody),
      )
      if (round === 0) return [votes, late]
      const offer = (name: string, roundChanges: readonly RoundChangePayload[], by = nobody) =>
        say(round, `hears ${text} proposed ${name}`, forge.proposal(round, value, round, roundChanges, by))
      return [
        votes,
        late,
        offer('without a reason', []),
        offer('on one round change repeated', many(forge.change(liar, round, NOTHING))),
        offer('on round changes of another height', changes(round, HEIGHT - 1)),
        offer('on round changes of the round before', changes(round - 1)),
      ]
    },
  }
}
