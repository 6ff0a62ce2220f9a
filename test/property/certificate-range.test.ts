import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RecoverAddress } from '../../src/consensus/certificate.ts'
import {
  certificatesOfRange,
  type RangeRules,
  rangeFault,
  rangePrefix,
  type SealedRange,
} from '../../src/consensus/verify-range.ts'
import { recoverAddress } from '../../src/crypto/signature.ts'
import { decodeBlock, encodeBlock } from '../../src/primitives/block.ts'
import { type Certificate, decodeCertificate, encodeCertificate } from '../../src/primitives/consensus/certificate.ts'
import { GENESIS_HASH } from '../support/consensus/ledger.ts'
import { DOMAIN } from '../support/consensus/member.ts'
import { committeeFrom, seal, sealedChain } from '../support/consensus/sealed-chain.ts'
import { SEED } from '../support/seed.ts'

// Blocks 1 to 12; the committee changes after 4 and after 8, the second time only in its order.
const COMMITTEES = [
  [0, 1, 2, 3],
  [4, 1, 2, 3, 5, 6, 7],
  [1, 4, 2, 3, 5, 6, 7],
]
const validatorsAt = (number: number) => COMMITTEES[Math.min(2, Math.floor((number - 1) / 4))] as readonly number[]
const chain = sealedChain(12, validatorsAt)
const committees = { committee: (number: number) => committeeFrom(validatorsAt(number)) }

const rangeOf = (from: number, to: number): SealedRange => ({
  blocks: chain.slice(from - 1, to).map(({ block }) => decodeBlock(encodeBlock(block))),
  certificate: chain[to - 1]!.certificate,
})
const rulesFrom = (
  from: number,
  certificates: RangeRules['certificates'],
  recover: RecoverAddress = recoverAddress,
): RangeRules => ({
  parent: { number: from - 1, hash: from === 1 ? GENESIS_HASH : chain[from - 2]!.block.hash },
  committees,
  domain: DOMAIN,
  recover,
  certificates,
})

const kinds = ['tips', 'all'] as const
const span = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 })).map(([a, b]) => ({
  from: Math.min(a, b),
  to: Math.max(a, b),
}))
const spoilt = fc.record({ span, kind: fc.constantFrom(...kinds), pick: fc.nat(), at: fc.nat(), bit: fc.nat(7) })
const run = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => void, numRuns: number) =>
  fc.assert(fc.property(arbitrary, check), { seed: SEED, numRuns })

/** With one bit of its bytes changed, decoded again; undefined when it is no longer of its form. */
const flip = <T>(bytes: Uint8Array, at: number, bit: number, decode: (bytes: Uint8Array) => T): T | undefined => {
  const changed = bytes.slice()
  changed[at % changed.byteLength]! ^= 1 << bit
  try {
    return decode(changed)
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}

describe(`ranges of blocks, SEED=${SEED}`, () => {
  test('any part of a chain is sound, with a signature recovered for each seal that is due and no more', () =>
    run(
      fc.record({ span, kind: fc.constantFrom(...kinds) }),
      ({ span: { from, to }, kind }) => {
        let recovered = 0
        const recover: RecoverAddress = (digest, signature) => {
          recovered++
          return recoverAddress(digest, signature)
        }
        expect(rangeFault(rangeOf(from, to), rulesFrom(from, kind, recover))).toBeNull()
        const due = chain
          .slice(0, to)
          .filter(({ block: { header } }) =>
            kind === 'all'
              ? header.number >= from - 1
              : header.number >= from && (header.number % 4 === 0 || header.number === to),
          )
        expect(recovered).toBe(due.reduce((sum, { certificate }) => sum + certificate.seals.length, 0))
        expect(certificatesOfRange(rangeOf(from, to))).toEqual(
          chain.slice(from - 1, to).map(({ certificate }) => certificate),
        )
      },
      60,
    ))

  test('a bit changed in any block is refused, and that block is named', () =>
    run(
      spoilt,
      ({ span: { from, to }, kind, pick, at, bit }) => {
        const range = rangeOf(from, to)
        const victim = pick % range.blocks.length
        const bytes = encodeBlock(chain[from - 1 + victim]!.block)
        const changed = flip(bytes, at, bit, decodeBlock)
        if (changed === undefined) return
        const fault = rangeFault({ ...range, blocks: range.blocks.with(victim, changed) }, rulesFrom(from, kind))
        expect(fault?.number).toBe(from + victim)
      },
      250,
    ))

  test('a bit changed in the last certificate is refused, and the last block is named', () =>
    run(
      spoilt,
      ({ span: { from, to }, kind, at, bit }) => {
        const range = rangeOf(from, to)
        const certificate = flip(encodeCertificate(range.certificate), at, bit, decodeCertificate)
        if (certificate === undefined) return
        expect(rangeFault({ ...range, certificate }, rulesFrom(from, kind))?.number).toBe(to)
      },
      150,
    ))

  test('with a block left out, doubled, or two in each other’s place, it is refused where the order breaks first from its end', () =>
    run(
      fc.record({ span, kind: fc.constantFrom(...kinds), a: fc.nat(), b: fc.nat() }),
      ({ span: { from, to }, kind, a, b }) => {
        const range = rangeOf(from, to)
        const size = range.blocks.length
        const [low, high] = [Math.min(a % size, b % size), Math.max(a % size, b % size)]
        const rules = rulesFrom(from, kind)
        const without = rangeFault({ ...range, blocks: range.blocks.toSpliced(low, 1) }, rules)
        if (size === 1) expect(without?.reason).toBe('EMPTY')
        // Without its last block it is a sound chain under a certificate for another block.
        else if (low === size - 1)
          expect(without).toEqual({ number: to - 1, reason: expect.stringMatching(/SEAL|BITMAP|QUORUM|OUTSIDE/) })
        else expect(without).toEqual({ number: to - 1, reason: 'NUMBER' })
        const doubled = range.blocks.toSpliced(low, 0, range.blocks[low]!)
        expect(rangeFault({ ...range, blocks: doubled }, rules)).toEqual({ number: to + 1, reason: 'NUMBER' })
        if (low === high) return
        const swapped = range.blocks.with(low, range.blocks[high]!).with(high, range.blocks[low]!)
        expect(rangeFault({ ...range, blocks: swapped }, rules)).toEqual({ number: from + high, reason: 'NUMBER' })
      },
      200,
    ))
})

describe('a range is refused', () => {
  const [from, to] = [3, 10]
  const range = rangeOf(from, to)
  const last = chain[to - 1]!.block
  const validators = validatorsAt(to)
  const withCertificate = (certificate: Certificate) => rangeFault({ ...range, certificate }, rulesFrom(from, 'tips'))

  test('with a seal too few, and the last block is named', () => {
    expect(withCertificate(seal(last, validators, { signers: 4 }))).toEqual({ number: to, reason: 'NO_QUORUM' })
    const { seals } = range.certificate
    expect(withCertificate({ ...range.certificate, seals: seals.slice(1) })).toEqual({
      number: to,
      reason: 'SEAL_COUNT',
    })
  })

  test('with a seal of a stranger, or of a member in another’s place', () => {
    const foreign = [9, validators[1] as number]
    for (const key of foreign) {
      const certificate = seal(last, validators, {
        as: sender => (sender === 0 ? key : (validators[sender] as number)),
      })
      expect(withCertificate(certificate)).toEqual({ number: to, reason: 'SEAL_INVALID' })
    }
  })

  test('with the seals of the committee before or after, of a round that was not theirs, or for another block', () => {
    for (const others of COMMITTEES.slice(0, 2)) expect(withCertificate(seal(last, others))?.number).toBe(to)
    expect(withCertificate({ ...seal(last, validators), round: 7 })).toEqual({ number: to, reason: 'SEAL_INVALID' })
    expect(withCertificate(chain[to - 2]!.certificate)).toEqual({ number: to, reason: 'SEAL_INVALID' })
  })

  test.each(kinds)(
    'when it is another committee that should have sealed it (%s): the last block of that committee is named',
    kind => {
      const other = {
        committee: (number: number) => (number <= 4 ? committeeFrom([0, 1, 2, 7]) : committees.committee(number)),
      }
      expect(rangeFault(range, { ...rulesFrom(from, kind), committees: other })).toBeNull()
      const shifted = {
        committee: (number: number) => (number <= 4 ? committeeFrom([7, 1, 2, 3]) : committees.committee(number)),
      }
      expect(rangeFault(range, { ...rulesFrom(from, kind), committees: shifted })).toEqual({
        number: 4,
        reason: 'SEAL_INVALID',
      })
    },
  )

  test('with another body under a header, and that block is named', () => {
    for (const part of [{ proofHeaders: [Uint8Array.of(1)] }, { evidence: [Uint8Array.of(1)] }]) {
      const blocks = range.blocks.with(4, { ...range.blocks[4]!, ...part })
      expect(rangeFault({ ...range, blocks }, rulesFrom(from, 'tips'))).toEqual({ number: from + 4, reason: 'BODY' })
    }
  })

  test('on another parent, or at another height, than this node has', () => {
    const rules = rulesFrom(from, 'tips')
    const hash = chain[5]!.block.hash
    expect(rangeFault(range, { ...rules, parent: { ...rules.parent, hash } })).toEqual({ number: from, reason: 'LINK' })
    expect(rangeFault(range, { ...rules, parent: { ...rules.parent, number: 3 } })?.reason).toBe('NUMBER')
  })

  test('as far as its committee is not known yet; its beginning is sound', () => {
    const known = { committee: (number: number) => (number > 8 ? undefined : committees.committee(number)) }
    const rules = { ...rulesFrom(from, 'tips'), committees: known }
    const fault = rangeFault(range, rules)
    expect(fault).toEqual({ number: 9, reason: 'COMMITTEE_UNKNOWN' })
    const beginning = rangePrefix(range, 9 - from)!
    expect(rangeFault(beginning, rules)).toBeNull()
    expect(beginning.blocks.map(({ header }) => header.number)).toEqual([3, 4, 5, 6, 7, 8])
  })
})
