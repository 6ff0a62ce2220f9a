import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEvidence, encodeEvidence } from '../../src/consensus/evidence/codec.ts'
import type { Evidence } from '../../src/consensus/evidence/evidence.ts'
import type { Statement } from '../../src/consensus/evidence/statement.ts'
import { messageDigest } from '../../src/consensus/wal/sign-message.ts'
import { decodeProposalHead, encodeProposalHead, type ProposalHead } from '../../src/primitives/consensus/proposal.ts'
import {
  decodeVote,
  encodeVote,
  type Prepare,
  type RoundChangePayload,
  type Vote,
} from '../../src/primitives/consensus/vote.ts'
import { SEED } from '../support/seed.ts'
import { damaged, expectStrict } from './strict-codec.ts'

const run = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => unknown, numRuns = 300) =>
  fc.assert(
    fc.property(arbitrary, value => {
      check(value)
    }),
    { seed: SEED, numRuns },
  )

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const hash: fc.Arbitrary<Hex> = bytes(32).map(bytesToHex)
const number = fc.oneof(fc.nat(300), fc.maxSafeNat())
const signed = { number, round: number, sender: fc.nat(127), signature: bytes(65) }
const prepared = fc.option(fc.record({ round: number, blockHash: hash }), { nil: null })

const prepare: fc.Arbitrary<Prepare> = fc.record({ type: fc.constant('prepare'), blockHash: hash, ...signed })
const payload: fc.Arbitrary<RoundChangePayload> = fc.record({ type: fc.constant('roundChange'), prepared, ...signed })
const prepares = fc.array(prepare, { maxLength: 6 })
const vote: fc.Arbitrary<Vote> = fc.oneof(
  prepare,
  fc.record({ type: fc.constant('commit' as const), blockHash: hash, ...signed }),
  fc.tuple(payload, prepares).map(([change, proof]) => ({ ...change, prepares: proof })),
)
const head: fc.Arbitrary<ProposalHead> = fc.record({
  type: fc.constant('proposal'),
  blockHash: hash,
  roundChanges: fc.array(payload, { maxLength: 6 }),
  prepares,
  ...signed,
})

const statement: fc.Arbitrary<Statement> = fc.oneof(
  prepare,
  fc.record({ type: fc.constant('commit' as const), blockHash: hash, ...signed }),
  payload,
  fc.record({ type: fc.constant('proposal' as const), blockHash: hash, justificationHash: hash, ...signed }),
)
const evidence: fc.Arbitrary<Evidence> = fc.oneof(
  fc.record({ kind: fc.constantFrom('conflict' as const, 'amnesia' as const), first: statement, second: statement }),
  fc.record({ kind: fc.constant('unjustified' as const), proposal: head }),
  fc.record({ kind: fc.constant('wrongProposer' as const), proposal: statement }),
)

describe(`codecs of consensus messages, SEED=${SEED}`, () => {
  test('votes come back as they were', () => run(vote, value => expect(decodeVote(encodeVote(value))).toEqual(value)))
  test('proposals come back as they were', () =>
    run(head, value => expect(decodeProposalHead(encodeProposalHead(value))).toEqual(value)))

  test('damaged votes are refused, or are other votes in their one form', () =>
    run(damaged(vote.map(encodeVote)), input => expectStrict(input, decodeVote, encodeVote), 1_500))
  test('damaged proposals likewise', () =>
    run(
      damaged(head.map(encodeProposalHead)),
      input => expectStrict(input, decodeProposalHead, encodeProposalHead),
      1_500,
    ))
  test('evidence comes back as it was; damaged evidence is refused, or is other evidence in its one form', () => {
    run(evidence, value => expect(decodeEvidence(encodeEvidence(value))).toEqual(value))
    run(damaged(evidence.map(encodeEvidence)), input => expectStrict(input, decodeEvidence, encodeEvidence), 1_500)
  })
  test('shortened and lengthened votes are refused', () =>
    run(fc.tuple(vote, fc.nat()), ([value, cut]) => {
      const encoded = encodeVote(value)
      const malformed = expect.objectContaining({ code: 'VOTE_MALFORMED' })
      expect(() => decodeVote(encoded.subarray(0, cut % encoded.byteLength))).toThrow(malformed)
      expect(() => decodeVote(Buffer.concat([encoded, Uint8Array.of(0)]))).toThrow(malformed)
    }))
})

describe(`what a signature covers, SEED=${SEED}`, () => {
  const domain = { chainId: 1, genesisHash: `0x${'11'.repeat(32)}` as Hex }

  test('two votes that differ in anything signed have different digests', () =>
    run(fc.tuple(vote, vote), ([a, b]) => {
      const covered = ({ sender: _, signature: __, ...rest }: Vote) => JSON.stringify({ ...rest, prepares: undefined })
      const same = covered(a) === covered(b)
      expect(bytesToHex(messageDigest(domain, a)) === bytesToHex(messageDigest(domain, b))).toBe(same)
    }))

  test('chain, genesis, kind, height and round are all bound', () =>
    run(prepare, vote => {
      const digests = [
        messageDigest(domain, vote),
        messageDigest({ ...domain, chainId: 2 }, vote),
        messageDigest({ ...domain, genesisHash: `0x${'22'.repeat(32)}` }, vote),
        messageDigest(domain, { ...vote, type: 'commit' }),
        messageDigest(domain, { ...vote, number: vote.number === 0 ? 1 : vote.number - 1 }),
        messageDigest(domain, { ...vote, round: vote.round === 0 ? 1 : vote.round - 1 }),
      ]
      expect(new Set(digests.map(bytesToHex)).size).toBe(digests.length)
    }))
})
