import type { Speaker } from '../../../src/consensus/ports.ts'
import { StartGate } from '../../../src/consensus/signer/start-gate.ts'
import { block, prepare } from '../consensus/core-bench.ts'
import { committeeOf } from '../consensus/member.ts'

/* The first signature after a start (docs/design/consensus.md#first-signature). */

const OPEN = 5
const COMMITTEE = committeeOf(4)
const [SELF, FIRST, SECOND, THIRD] = COMMITTEE.members as readonly [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
]

/** Gate of a member without any record of signatures, after votes of members 1, 2, ... at these heights, from themselves. */
const after = (...heights: readonly number[]): boolean => {
  const gate = new StartGate({ isOpen: false, trusts: false, nowMs: 0 })
  const speakers = [FIRST, SECOND, THIRD]
  for (const [at, number] of heights.entries()) {
    const speaker: Speaker = { speaksFor: [speakers[at] as `0x${string}`], reaches: [SELF, FIRST, SECOND, THIRD] }
    gate.heard(prepare(at + 1, 0, block(1, 1), number), speaker, COMMITTEE, OPEN)
  }
  return gate.isOpenFor(COMMITTEE)
}

const reportedFor = (): string | null => {
  const gate = new StartGate({ isOpen: false, trusts: false, nowMs: 0 })
  const speaker: Speaker = { speaksFor: [FIRST], reaches: [SECOND, THIRD] }
  for (const sender of [1, 2, 3]) gate.heard(prepare(sender, 0, block(1, 1), OPEN), speaker, COMMITTEE, OPEN)
  return gate.isOpenFor(COMMITTEE) ? 'one neighbour speaks for all' : null
}

/** Scenarios by name; each returns the fault it shows, null where there is none. */
export const START_SCENARIOS = {
  'nothing is signed before a quorum reports': () => (after(OPEN) ? 'one report is enough' : null),
  'members that are ahead do not let a member sign': () =>
    after(OPEN + 1, OPEN + 1, OPEN + 1) ? 'it signs at a height that is over' : null,
  'a neighbour reports only for itself': reportedFor,
} as const satisfies Readonly<Record<string, () => string | null>>
