import { expect, test } from 'vitest'
import { Admission } from '../../../src/consensus/admission.ts'
import type { Evidence } from '../../../src/consensus/evidence/evidence.ts'
import { digestOf } from '../../../src/consensus/signing.ts'
import { createVerifier } from '../../../src/consensus/verify.ts'
import { recoverAddress, sign } from '../../../src/crypto/signature.ts'
import { ZERO_HASH } from '../../../src/util/bytes.ts'
import { proposal } from '../../support/consensus/core-bench.ts'
import { makeBlock } from '../../support/consensus/ledger.ts'
import { committeeOf, DOMAIN, keyOf } from '../../support/consensus/member.ts'

test('a proposal out of turn is evidence, and takes no place among those that wait', () => {
  const committee = committeeOf(4)
  const found: Evidence[] = []
  const admission = new Admission({
    committees: { committee: () => committee },
    verifier: createVerifier(DOMAIN, recoverAddress, 100),
    onEvidence: evidence => found.push(evidence),
  })
  const next = makeBlock({ number: 2, parentHash: ZERO_HASH, timestamp: 2 }, committee.members[2]!, null, 1)
  const offer = (sender: number, round: number) => {
    const unsigned = proposal(sender, round, next)
    const signed = { ...unsigned, signature: sign(digestOf(DOMAIN, unsigned), keyOf(sender)) }
    return admission.admit(signed, { head: 0, wanted: null })
  }
  // Height 2: members 2, 3, 0, 1 in rounds 0, 1, 2, 3.
  expect(offer(3, 0)).toBe('pointless')
  expect(offer(3, 2)).toBe('pointless')
  expect(found.map(({ kind }) => kind)).toEqual(['wrongProposer'])
  expect(offer(2, 0)).toBe('true')
})
