import { EvidenceDetector } from '../../../src/consensus/evidence/detector.ts'
import { type SignedMessage, signedHead } from '../../../src/primitives/consensus/message.ts'
import { block, commit, prepare, roundChange } from '../consensus/core-bench.ts'
import { committeeOf } from '../consensus/member.ts'

const COMMITTEE = committeeOf(4)
const STATEMENTS = 8
const LAST = 50
const [LOCK, OTHER] = [block(1, 1), block(2, 1)]

/** Evidence kinds that a message gives after a stall of many rounds, in which its sender kept the lock of its commit in round 0. */
const afterStall = (message: SignedMessage): string | undefined => {
  const detector = new EvidenceDetector({ heights: 2, statements: STATEMENTS })
  const observe = (said: SignedMessage) => detector.observe(signedHead(said), COMMITTEE, () => true)
  observe(commit(3, 0, LOCK))
  for (let round = 1; round <= LAST; round++) {
    detector.advance(1, round)
    observe(roundChange(3, round, { round: 0, of: LOCK, by: [0, 1, 2] }))
    observe(prepare(3, round, LOCK))
  }
  return observe(message)[0]?.kind
}

/** Votes against the memory of the detector (docs/design/consensus.md#evidence). */
export const EVIDENCE_SCENARIOS = {
  'a second vote late in a stall is evidence': () =>
    afterStall(prepare(3, LAST, OTHER)) === 'conflict' ? null : 'a second vote in the open round is not found',
  'a lock lost late in a stall is evidence': () =>
    afterStall(roundChange(3, LAST + 1)) === 'amnesia' ? null : 'the loss of a lock is not found',
} as const
