import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../../../src/config/limits.ts'
import { decodeEvidence, encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import { accusedBy, type Evidence } from '../../../../src/consensus/evidence/evidence.ts'
import { EvidenceExchange } from '../../../../src/consensus/evidence/exchange.ts'
import { blockEvidenceFault, type EvidenceRules } from '../../../../src/consensus/evidence/in-block.ts'
import { digestOf } from '../../../../src/consensus/signing.ts'
import { createVerifier } from '../../../../src/consensus/verify.ts'
import { recoverAddress, sign } from '../../../../src/crypto/signature.ts'
import { silentLogger } from '../../../../src/util/logger.ts'
import { block, prepare } from '../../../support/consensus/core-bench.ts'
import { committeeOf, DOMAIN, keyOf } from '../../../support/consensus/member.ts'

const COMMITTEE = committeeOf(4)
const { isSigned } = createVerifier(DOMAIN, recoverAddress, 1_000)
const vote = (sender: number, name: number, number: number, key = sender) => {
  const unsigned = prepare(sender, 0, block(name, 0), number)
  return { ...unsigned, signature: sign(digestOf(DOMAIN, unsigned), keyOf(key)) }
}
/** Two prepares of one member at one height. */
const against = (sender: number, number: number, names: readonly [number, number] = [1, 2]): Evidence => ({
  kind: 'conflict',
  first: vote(sender, names[0], number),
  second: vote(sender, names[1], number),
})
const forged = (sender: number, number: number): Evidence => ({
  kind: 'conflict',
  first: vote(sender, 1, number),
  second: vote(sender, 2, number, 3 - sender),
})

/** Exchanges that hear everything the others pass on. */
const group = (size: number, head = { number: 10, timestamp: 1_000 }) => {
  const listeners: ((encoded: Uint8Array, from: string) => void)[] = []
  const liars: string[] = []
  const punished = new Set<string>()
  let passed = 0
  let checked = 0
  const exchanges = Array.from({ length: size }, (_, index) => {
    const exchange = new EvidenceExchange({
      committees: { committee: number => (number > 100 ? undefined : COMMITTEE) },
      isSigned: (signed, committee) => {
        checked++
        return isSigned(signed, committee)
      },
      network: {
        broadcast: encoded => {
          passed++
          for (const [to, listener] of listeners.entries()) if (to !== index) listener?.(encoded, String(index))
        },
        onEvidence: listener => {
          listeners[index] = listener
          return () => delete listeners[index]
        },
        misbehaved: peer => liars.push(peer),
      },
      head: () => head,
      isPunished: (number, sender) => punished.has(`${number} ${sender}`),
      logger: silentLogger,
    })
    exchange.start()
    return exchange
  })
  const counts = () => ({ passed, checked })
  const tell = (to: number, encoded: Uint8Array) => listeners[to]?.(encoded, 'stranger')
  return { exchanges, liars, punished, tell, counts, head }
}
const accused = (encoded: readonly Uint8Array[]) => encoded.map(item => accusedBy(decodeEvidence(item)))

describe('evidence between nodes', () => {
  test('found by one it reaches all, once, and each offers it to the next block', () => {
    const { exchanges, counts, liars } = group(4)
    exchanges[0]!.report(against(2, 9))
    for (const exchange of exchanges) expect(accused(exchange.select())).toMatchObject([{ number: 9, sender: 2 }])
    expect(counts().passed).toBe(4)
    exchanges[1]!.report(against(2, 9, [3, 4]))
    expect(counts().passed).toBe(4)
    expect(liars).toEqual([])
  })

  test('what a block held is offered no more and taken no more', () => {
    const { exchanges, punished, tell, counts } = group(2)
    exchanges[0]!.report(against(2, 9))
    const held = exchanges[1]!.select()
    punished.add('9 2')
    for (const exchange of exchanges) exchange.committed(held)
    const { checked } = counts()
    tell(0, held[0]!)
    expect(counts().checked).toBe(checked)
    exchanges[1]!.report(against(2, 9))
    expect(exchanges.map(({ size }) => size)).toEqual([0, 0])
  })

  test('of the open height it waits for the height to be over', () => {
    const { exchanges, head } = group(1)
    exchanges[0]!.report(against(1, 11))
    expect(exchanges[0]!.select()).toEqual([])
    head.number = 11
    expect(exchanges[0]!.select()).toHaveLength(1)
  })

  test('from outside it is held against the honest by nobody, and those who bring a lie are named', () => {
    const { exchanges, tell, liars } = group(2)
    for (const lie of [
      encodeEvidence(forged(2, 9)),
      new Uint8Array(0),
      Uint8Array.of(0xc0),
      new Uint8Array(LIMITS.consensus.evidenceBytes + 1),
    ])
      tell(0, lie)
    expect(liars).toEqual(['stranger', 'stranger', 'stranger', 'stranger'])
    expect(exchanges.map(({ size }) => size)).toEqual([0, 0])
  })

  test('more against the same member costs no signature; too far, too old and of unknown committees neither', () => {
    const { exchanges, tell, counts, liars } = group(1)
    exchanges[0]!.report(against(2, 9))
    for (let name = 3; name < 50; name += 2) tell(0, encodeEvidence(against(2, 9, [name, name + 1])))
    tell(0, encodeEvidence(against(2, 10 + LIMITS.consensus.futureHeights + 1)))
    expect(counts().checked).toBe(0)
    const late = group(1, { number: 200_000, timestamp: 1_000 })
    late.tell(0, encodeEvidence(against(2, 5)))
    late.tell(0, encodeEvidence(against(2, 199_999)))
    expect([counts().checked, late.counts().checked, liars.length]).toEqual([0, 0, 0])
  })

  test('a stopped exchange hears nothing', () => {
    const { exchanges, tell } = group(1)
    exchanges[0]!.stop()
    tell(0, encodeEvidence(against(2, 9)))
    expect(exchanges[0]!.size).toBe(0)
  })
})

describe('evidence in a block', () => {
  const rules: EvidenceRules = {
    block: { number: 10, timestamp: 1_000 },
    committees: { committee: () => COMMITTEE },
    isSigned,
    timestampOf: () => 0,
    isPunished: (number, sender) => number === 3 && sender === 3,
  }
  const { evidencePerBlock, evidenceMaxAgeBlocks, evidenceMaxAgeSeconds } = LIMITS.consensus
  const faultOf = (items: readonly Evidence[], changes: Partial<EvidenceRules> = {}) =>
    blockEvidenceFault(items.map(encodeEvidence), { ...rules, ...changes })

  test('may stand when it proves something new', () => {
    expect(faultOf([])).toBeNull()
    expect(faultOf([against(2, 9), against(2, 8), against(1, 9)])).toBeNull()
  })

  test.each<[string, readonly Evidence[], number, string]>([
    ['a lie', [against(2, 9), forged(2, 8)], 1, 'SIGNATURE_INVALID'],
    ['two votes that agree', [against(2, 9, [1, 1])], 0, 'NO_CONTRADICTION'],
    ['the same twice', [against(2, 9), against(1, 9), against(2, 9)], 2, 'REPEATED'],
    ['other proof against the same member and height', [against(2, 9), against(2, 9, [3, 4])], 1, 'REPEATED'],
    ['what a block below held', [against(3, 3)], 0, 'REPEATED'],
    ['the height of the block itself', [against(2, 10)], 0, 'TOO_NEW'],
    ['a stranger', [against(7, 9)], 0, 'OUTSIDE_COMMITTEE'],
    ['more than a block may hold', Array.from({ length: evidencePerBlock + 1 }, () => against(2, 9)), 0, 'TOO_MUCH'],
  ])('may not with %s', (_, items, index, reason) => expect(faultOf(items)).toEqual({ index, reason }))

  test('may not when it is no evidence, too large, or of a committee nobody knows', () => {
    expect(blockEvidenceFault([Uint8Array.of(1)], rules)).toEqual({ index: 0, reason: 'MALFORMED' })
    const large = new Uint8Array(LIMITS.consensus.evidenceBytes + 1)
    expect(blockEvidenceFault([large], rules)).toEqual({ index: 0, reason: 'MALFORMED' })
    expect(blockEvidenceFault([large, large], rules)).toEqual({ index: 0, reason: 'TOO_MUCH' })
    expect(faultOf([against(2, 9)], { committees: { committee: () => undefined } })?.reason).toBe('COMMITTEE_UNKNOWN')
  })

  test('expires when it is too old by blocks and by time, not by one of them', () => {
    const aged = (blocks: number, seconds: number) =>
      faultOf([against(2, 9)], { block: { number: 9 + blocks, timestamp: seconds } })?.reason
    expect(aged(evidenceMaxAgeBlocks + 1, evidenceMaxAgeSeconds)).toBeUndefined()
    expect(aged(evidenceMaxAgeBlocks, evidenceMaxAgeSeconds + 1)).toBeUndefined()
    expect(aged(evidenceMaxAgeBlocks + 1, evidenceMaxAgeSeconds + 1)).toBe('EXPIRED')
  })
})
