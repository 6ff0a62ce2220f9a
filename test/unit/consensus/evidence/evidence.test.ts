import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { PendingEvidence } from '../../../../src/chain/council/evidence-pool.ts'
import { decodeEvidence, encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import { EvidenceDetector } from '../../../../src/consensus/evidence/detector.ts'
import { accusedIn, type Evidence, evidenceFault } from '../../../../src/consensus/evidence/evidence.ts'
import { claimFromProposal } from '../../../../src/consensus/evidence/statement.ts'
import { createSignatureVerifier } from '../../../../src/consensus/signer/signature-verifier.ts'
import { messageDigest } from '../../../../src/consensus/wal/sign-message.ts'
import { recoverAddress, sign } from '../../../../src/crypto/signature.ts'
import { type SignedMessage, signedHead } from '../../../../src/primitives/consensus/message.ts'
import { proposalHead } from '../../../../src/primitives/consensus/proposal.ts'
import type { RoundChange, RoundChangePayload } from '../../../../src/primitives/consensus/vote.ts'
import { commit, prepare, proposal, roundChange } from '../../../support/consensus/core-bench.ts'
import { makeBlock } from '../../../support/consensus/ledger.ts'
import { committeeOf, DOMAIN, keyOf } from '../../../support/consensus/member.ts'

// Four members; member 1 proposes round 0 of height 1, member 2 round 1.
const COMMITTEE = committeeOf(4)
const VERIFIER = createSignatureVerifier(DOMAIN, recoverAddress, 1_000)
const block = (salt: number) =>
  makeBlock({ number: 1, parentHash: ZERO_HASH, timestamp: 1 }, COMMITTEE.members[1]!, null, salt)
const A = block(1)
const B = block(2)

const signed = <M extends SignedMessage>(message: M): M => ({
  ...message,
  signature: sign(messageDigest(DOMAIN, message), keyOf(message.sender)),
})

/** As a proposal carries it. */
const payload = ({ prepares: _, ...signedPart }: RoundChange): RoundChangePayload => signedPart
const changes = [0, 2, 3].map(sender => payload(signed(roundChange(sender, 1))))
const justified = signed(proposal(2, 1, B, { roundChanges: changes, prepares: [] }))
const claims = (round: number) => {
  const by = [0, 1, 2].map(sender => signed(prepare(sender, 0, A)))
  return { ...roundChange(3, round, { round: 0, of: A, by: [] }), prepares: by }
}

const detect = (...messages: readonly SignedMessage[]): readonly Evidence[] => {
  const detector = new EvidenceDetector({ heights: 2, statements: 8 })
  return messages.flatMap(message => {
    expect(VERIFIER.verify(signedHead(message), COMMITTEE)).toBe('signed')
    return detector.observe(signedHead(message), COMMITTEE, VERIFIER.isSigned)
  })
}

const guilty: readonly (readonly [name: string, kind: Evidence['kind'], messages: readonly SignedMessage[]])[] = [
  ['two blocks for one round', 'conflict', [signed(proposal(1, 0, A)), signed(proposal(1, 0, B))]],
  ['two prepares', 'conflict', [signed(prepare(3, 0, A)), signed(prepare(3, 0, B))]],
  ['two commits', 'conflict', [signed(commit(3, 0, A)), signed(commit(3, 0, B))]],
  ['two round changes', 'conflict', [signed(roundChange(3, 1)), signed(claims(1))]],
  ['a commit forgotten', 'amnesia', [signed(commit(3, 0, A)), signed(roundChange(3, 1))]],
  ['a commit after the round was given up', 'amnesia', [signed(roundChange(3, 5)), signed(commit(3, 4, A))]],
  ['a proposal out of turn', 'wrongProposer', [signed(proposal(3, 0, A))]],
  [
    'a proposal on too few round changes',
    'unjustified',
    [signed(proposal(2, 1, B, { roundChanges: changes.slice(1), prepares: [] }))],
  ],
  [
    'a proposal against what is prepared',
    'unjustified',
    [signed(proposal(2, 1, B, { roundChanges: [...changes.slice(0, 2), payload(signed(claims(1)))], prepares: [] }))],
  ],
]

describe('what no honest member signs', () => {
  test.each(guilty)('%s: found, self-contained, and against its signer alone', (_, kind, messages) => {
    const found = detect(...messages)
    expect(found).toHaveLength(1)
    expect(found[0]!.kind).toBe(kind)
    expect(accusedIn(found[0]!)).toMatchObject({ number: 1, sender: messages[0]!.sender })
    const read = decodeEvidence(encodeEvidence(found[0]!))
    expect(read).toEqual(found[0])
    expect(evidenceFault(read, COMMITTEE, VERIFIER.isSigned)).toBeNull()
    // Under another committee it proves nothing.
    const others = { members: [...COMMITTEE.members].reverse() }
    expect(evidenceFault(read, others, VERIFIER.isSigned)).not.toBeNull()
  })

  test('an invalid signature in a justification is the proposer’s fault too', () => {
    const forged = signed(
      proposal(2, 1, B, { roundChanges: [...changes.slice(1), payload(roundChange(0, 1))], prepares: [] }),
    )
    expect(VERIFIER.verify(signedHead(forged), COMMITTEE)).toBe('badProof')
    const evidence: Evidence = { kind: 'unjustified', proposal: proposalHead(forged) }
    expect(evidenceFault(evidence, COMMITTEE, VERIFIER.isSigned)).toBeNull()
  })

  test('the second of two votes is found inside what others say', () => {
    const hidden = signed(prepare(0, 0, B))
    const by = [hidden, ...[1, 2].map(sender => signed(prepare(sender, 0, B)))]
    const change = { ...signed(roundChange(3, 1, { round: 0, of: B, by: [] })), prepares: by }
    const found = detect(signed(prepare(0, 0, A)), change)
    expect(found.map(accusedIn)).toMatchObject([{ sender: 0 }])
  })
})

describe('what proves nothing', () => {
  test.each<readonly [string, readonly SignedMessage[]]>([
    ['the same twice', [signed(prepare(3, 0, A)), signed(prepare(3, 0, A))]],
    ['votes of two rounds', [signed(prepare(3, 0, A)), signed(prepare(3, 1, B))]],
    ['votes of two members', [signed(prepare(3, 0, A)), signed(prepare(0, 0, B))]],
    ['a prepare and a commit', [signed(prepare(3, 0, A)), signed(commit(3, 0, B))]],
    ['a commit and a round change that remembers it', [signed(commit(3, 0, A)), signed(claims(1))]],
    ['a commit in a later round', [signed(roundChange(3, 1)), signed(commit(3, 1, A))]],
    ['a justified proposal', [justified]],
  ])('%s', (_, messages) => expect(detect(...messages)).toEqual([]))

  test.each<readonly [string, Evidence]>([
    ['a forged second vote', { kind: 'conflict', first: signed(prepare(3, 0, A)), second: prepare(3, 0, B) }],
    ['two votes that agree', { kind: 'conflict', first: signed(prepare(3, 0, A)), second: signed(prepare(3, 0, A)) }],
    ['votes of two members', { kind: 'conflict', first: signed(prepare(3, 0, A)), second: signed(prepare(0, 0, B)) }],
    ['a stranger', { kind: 'conflict', first: signed(prepare(9, 0, A)), second: signed(prepare(9, 0, B)) }],
    ['a lock kept', { kind: 'amnesia', first: signed(commit(3, 0, A)), second: signed(claims(1)) }],
    ['a turn kept', { kind: 'wrongProposer', proposal: claimFromProposal(proposalHead(signed(proposal(1, 0, A)))) }],
    ['a good reason', { kind: 'unjustified', proposal: proposalHead(justified) }],
    // Not signed in round 0: the honest proposer said nothing of the kind.
    [
      'a reason put into round 0 by others',
      { kind: 'unjustified', proposal: { ...proposalHead(signed(proposal(1, 0, A))), prepares: [prepare(0, 0, A)] } },
    ],
    [
      'lists changed by others',
      { kind: 'unjustified', proposal: { ...proposalHead(justified), roundChanges: changes.slice(1) } },
    ],
  ])('%s', (_, evidence) => expect(evidenceFault(evidence, COMMITTEE, VERIFIER.isSigned)).not.toBeNull())
})

describe('bounds', () => {
  test('a member that says much fills its own share and no more, and old heights are forgotten', () => {
    const detector = new EvidenceDetector({ heights: 2, statements: 8 })
    const observe = (message: SignedMessage) => detector.observe(signedHead(message), COMMITTEE, () => true)
    for (let round = 0; round < 50; round++) observe(prepare(3, round, A))
    expect(detector.size).toBe(8)
    observe(prepare(2, 0, A))
    expect(detector.size).toBe(9)
    detector.advance(4, 0)
    expect(detector.size).toBe(0)
    expect(observe(prepare(3, 0, A))).toEqual([])
    expect(detector.size).toBe(0)
  })

  test('votes for rounds far away make room for those of near ones, so they hide no second vote', () => {
    const flood = Array.from({ length: 50 }, (_, round) => signed(prepare(3, 1_000 + round, A)))
    const found = detect(...flood, signed(prepare(3, 0, A)), signed(prepare(3, 0, B)))
    expect(found).toMatchObject([{ kind: 'conflict', first: { round: 0 } }])
  })

  describe('in a long stall', () => {
    const stalled = (last: number) => {
      const detector = new EvidenceDetector({ heights: 2, statements: 8 })
      const observe = (message: SignedMessage) => detector.observe(signedHead(message), COMMITTEE, () => true)
      observe(commit(3, 0, A))
      for (let round = 1; round <= last; round++) {
        detector.advance(1, round)
        expect(observe(roundChange(3, round, { round: 0, of: A, by: [0, 1, 2] }))).toEqual([])
        expect(observe(prepare(3, round, A))).toEqual([])
      }
      return { detector, observe }
    }

    test('the statements of the open round are kept, so a second vote in it is found', () => {
      const { detector, observe } = stalled(50)
      expect(observe(prepare(3, 50, B))).toMatchObject([{ kind: 'conflict', first: { round: 50 } }])
      // With the prepares of members 0, 1 and 2 that its round changes carry.
      expect(detector.size).toBe(8 + 3)
    })

    test('the last commit is kept through all later rounds, so its loss is found', () => {
      expect(stalled(50).observe(roundChange(3, 51))).toMatchObject([{ kind: 'amnesia', first: { round: 0 } }])
    })

    test('after its decision the votes of its last round are still compared', () => {
      const { detector, observe } = stalled(50)
      detector.advance(2, 0)
      for (let round = 100; round < 150; round++) observe(commit(3, round, A))
      expect(observe(prepare(3, 50, B))).toMatchObject([{ kind: 'conflict', first: { round: 50 } }])
    })
  })

  test('one accusation of a member at a height is enough', () => {
    const votes = [prepare(3, 0, A), prepare(3, 0, B), commit(3, 0, A), commit(3, 0, B)].map(signed)
    expect(detect(...votes)).toHaveLength(1)
  })

  test('the pool keeps one piece against each validator, of a bounded number of them, the lowest height first', () => {
    const pool = new PendingEvidence(3)
    const against = (number: number, sender: number): Evidence => ({
      kind: 'conflict',
      first: prepare(sender, 0, A, number),
      second: prepare(sender, 0, B, number),
    })
    const [one, two, three, four] = committeeOf(4).members as [Hex, Hex, Hex, Hex]
    expect(pool.add(one, against(5, 0))).toEqual(encodeEvidence(against(5, 0)))
    expect([one, two].map(offender => pool.wants(offender))).toEqual([false, true])
    pool.add(two, against(2, 1))
    pool.add(three, against(3, 2))
    expect(pool.wants(four)).toBe(false)
    expect(pool.all().map(({ offender }) => offender)).toEqual([two, three, one])
    expect(pool.all().map(({ encoded }) => accusedIn(decodeEvidence(encoded)).number)).toEqual([2, 3, 5])
    expect([two, two].map(offender => pool.remove(offender))).toEqual([true, false])
    expect([pool.size, pool.wants(four)]).toEqual([2, true])
  })
})
