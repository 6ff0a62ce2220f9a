import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { CONSENSUS_LIMITS } from '../../../../src/config/limits/consensus.ts'
import { certificateFromCommits } from '../../../../src/consensus/certificate.ts'
import { MessageValidator } from '../../../../src/consensus/engine/message-validator.ts'
import { accusedIn, type Evidence, evidenceFault } from '../../../../src/consensus/evidence/evidence.ts'
import { createSignatureVerifier } from '../../../../src/consensus/signer/signature-verifier.ts'
import { messageDigest } from '../../../../src/consensus/wal/sign-message.ts'
import { recoverAddress, sign } from '../../../../src/crypto/signature.ts'
import type { Block } from '../../../../src/primitives/block.ts'
import type { Commit, Prepare, RoundChange } from '../../../../src/primitives/consensus/vote.ts'
import { commit, prepare, proposal, roundChange } from '../../../support/consensus/core-bench.ts'
import { makeBlock } from '../../../support/consensus/ledger.ts'
import { committeeOf, DOMAIN, keyOf } from '../../../support/consensus/member.ts'

/** A vote with its sender's signature. */
const signed = <Vote extends Prepare | Commit | RoundChange>(vote: Vote): Vote => ({
  ...vote,
  signature: sign(messageDigest(DOMAIN, vote), keyOf(vote.sender)),
})

const { isSigned } = createSignatureVerifier(DOMAIN, recoverAddress, 100)

test('a proposal out of turn is evidence, and takes no place among those that wait', () => {
  const committee = committeeOf(4)
  const found: Evidence[] = []
  const messageValidator = new MessageValidator({
    committees: { committee: () => committee },
    verifier: createSignatureVerifier(DOMAIN, recoverAddress, 100),
    onEvidence: evidence => found.push(evidence),
  })
  const next = makeBlock({ number: 2, parentHash: ZERO_HASH, timestamp: 2 }, committee.members[2]!, null, 1)
  const offer = (sender: number, round: number) => {
    const unsigned = proposal(sender, round, next)
    const signed = { ...unsigned, signature: sign(messageDigest(DOMAIN, unsigned), keyOf(sender)) }
    return messageValidator.admit(signed, { head: 0, round: 0, wanted: new Set() })
  }
  // Height 2: members 2, 3, 0, 1 in rounds 0, 1, 2, 3.
  expect(offer(3, 0)).toBe('ignore')
  expect(offer(3, 2)).toBe('ignore')
  expect(found.map(({ kind }) => kind)).toEqual(['wrongProposer'])
  expect(offer(2, 0)).toBe('accept')
})

test('a second vote is evidence however long the open height stalls', () => {
  const committee = committeeOf(4)
  const found: Evidence[] = []
  const messageValidator = new MessageValidator({
    committees: { committee: () => committee },
    verifier: { verify: () => 'signed', isSigned: () => true, isDecided: () => true, recover: recoverAddress },
    onEvidence: evidence => found.push(evidence),
  })
  const [A, B] = [1, 2].map(salt =>
    makeBlock({ number: 1, parentHash: ZERO_HASH, timestamp: 1 }, committee.members[1]!, null, salt),
  ) as [Block, Block]
  const last = CONSENSUS_LIMITS.statements
  for (let round = 0; round <= last; round++)
    messageValidator.admit(prepare(3, round, A), { head: 0, round, wanted: new Set() })
  messageValidator.admit(prepare(3, last, B), { head: 0, round: last, wanted: new Set() })
  expect(found).toMatchObject([{ kind: 'conflict', first: { sender: 3, round: last } }])
})

test('a round change without the prepares that it names is relayed to nobody', () => {
  const committee = committeeOf(4)
  const messageValidator = new MessageValidator({
    committees: { committee: () => committee },
    verifier: createSignatureVerifier(DOMAIN, recoverAddress, 100),
    onEvidence: () => expect.unreachable('lists of a round change are not signed'),
  })
  const block = makeBlock({ number: 1, parentHash: ZERO_HASH, timestamp: 1 }, committee.members[1]!, null, 1)
  const prepares = [0, 1, 2].map(sender => signed(prepare(sender, 0, block)))
  const whole = { ...signed(roundChange(3, 1, { round: 0, of: block, by: [0, 1, 2] })), prepares }
  const position = { head: 0, round: 0, wanted: new Set<never>() }
  expect(messageValidator.admit({ ...whole, prepares: [] }, position)).toBe('ignore')
  expect(messageValidator.admit({ ...whole, prepares: prepares.slice(1) }, position)).toBe('ignore')
  expect(messageValidator.admit(whole, position)).toBe('accept')
})

test('of two decisions of one height, exactly the members that sealed both are accused', () => {
  const committee = committeeOf(4)
  const found: Evidence[] = []
  const messageValidator = new MessageValidator({
    committees: { committee: () => committee },
    verifier: createSignatureVerifier(DOMAIN, recoverAddress, 100),
    onEvidence: evidence => found.push(evidence),
  })
  const [A, B] = [1, 2].map(salt =>
    makeBlock({ number: 1, parentHash: ZERO_HASH, timestamp: 1 }, committee.members[1]!, null, salt),
  ) as [Block, Block]
  const decided = (block: Block, signers: readonly number[]) => {
    const commits = signers.map(sender => signed(commit(sender, 0, block)))
    return { type: 'decided', block, certificate: certificateFromCommits(0, 4, commits) } as const
  }
  expect(messageValidator.admit(decided(A, [0, 1, 2]), { head: 0, round: 0, wanted: new Set() })).toBe('accept')
  expect(messageValidator.admit(decided(A, [1, 2, 3]), { head: 1, round: 0, wanted: new Set() })).toBe('ignore')
  expect(found).toEqual([])
  expect(messageValidator.admit(decided(B, [1, 2, 3]), { head: 1, round: 0, wanted: new Set() })).toBe('ignore')
  const names = found.map(evidence => [evidence.kind, accusedIn(evidence).sender])
  expect(names).toEqual([1, 2, 3].map(sender => ['conflict', sender]))
  for (const evidence of found) expect(evidenceFault(evidence, committee, isSigned)).toBeNull()
  const forged = { ...decided(B, [1, 2, 3]), block: A }
  expect(messageValidator.admit(forged, { head: 1, round: 0, wanted: new Set() })).toBe('reject')
})
