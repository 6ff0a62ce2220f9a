import { hasQuorumAtRound } from '../../../src/consensus/core/rounds.ts'
import type { WalRecord } from '../../../src/consensus/core/types.ts'
import type { Speaker } from '../../../src/consensus/ports.ts'
import { Quarantine } from '../../../src/consensus/signer/local-validator.ts'
import { StartGate } from '../../../src/consensus/signer/start-gate.ts'
import { block, CoreBench, prepare, roundChange } from '../consensus/core-bench.ts'
import { committeeOf } from '../consensus/member.ts'

/* Restarts: what a member remembers, and when it signs again (docs/design/consensus.md#first-signature). */

const OPEN = 5
const LATE_SECONDS = 1_000
const COMMITTEE = committeeOf(4)
const [SELF, FIRST, SECOND, THIRD] = COMMITTEE.members as readonly [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
]

/** Gate of a member without any record of signatures, after votes of members 1, 2, ... at these heights, from themselves. */
const after = (...heights: readonly number[]): boolean => {
  const gate = new StartGate({ isOpen: false, self: undefined, trusts: false, nowMs: 0 })
  const speakers = [FIRST, SECOND, THIRD]
  for (const [at, number] of heights.entries()) {
    const speaker: Speaker = { speaksFor: [speakers[at] as `0x${string}`], reaches: [SELF, FIRST, SECOND, THIRD] }
    gate.heard(prepare(at + 1, 0, block(1, 1), number), speaker, COMMITTEE, OPEN)
  }
  return gate.isOpenFor(COMMITTEE)
}

const reportedFor = (): string | null => {
  const gate = new StartGate({ isOpen: false, self: undefined, trusts: false, nowMs: 0 })
  const speaker: Speaker = { speaksFor: [FIRST], reaches: [SECOND, THIRD] }
  for (const sender of [1, 2, 3]) gate.heard(prepare(sender, 0, block(1, 1), OPEN), speaker, COMMITTEE, OPEN)
  return gate.isOpenFor(COMMITTEE) ? 'one neighbour speaks for all' : null
}

const twoHeights = (): string | null => {
  const quarantine = new Quarantine('LOG_MISSING', OPEN, 0, 0)
  const ended = [OPEN + 1, OPEN + 2].map(number => quarantine.decided({ number, timestamp: LATE_SECONDS }, false))
  return ended[0] === false && ended[1] === true ? null : 'a quarantine ends at the head'
}

/** Its prepared certificates of two rounds, as a log holds them. */
const lastLock = (): string | null => {
  const prepared = (round: number): WalRecord => {
    const of = block(round + 1, round + 1)
    const prepares = [0, 1, 2].map(sender => prepare(sender, round, of))
    return { type: 'prepared', number: 1, certificate: { round, blockHash: of.hash, prepares } }
  }
  const { state } = new CoreBench(0, 4, { records: [prepared(0), { type: 'round', number: 1, round: 2 }, prepared(2)] })
  return state.height?.prepared?.round === 2 ? null : 'a restart forgets its newest lock'
}

const aloneInRound = (): string | null => {
  const bench = new CoreBench(0)
  bench.timeout('round')
  bench.hear(roundChange(1, 1))
  return bench.state.height !== null && hasQuorumAtRound(bench.state.height) ? 'two of four give up a round' : null
}

/** Scenarios by name; each returns the fault it shows, null where there is none. */
export const START_SCENARIOS = {
  'nothing is signed before a quorum reports': () => (after(OPEN) ? 'one report is enough' : null),
  'members that are ahead do not let a member sign': () =>
    after(OPEN + 1, OPEN + 1, OPEN + 1) ? 'it signs at a height that is over' : null,
  'a neighbour reports only for itself': reportedFor,
  'a quarantine lasts two heights': twoHeights,
  'a restart has the newest lock of its log': lastLock,
  'no round is given up before a quorum is in it': aloneInRound,
} as const satisfies Readonly<Record<string, () => string | null>>
