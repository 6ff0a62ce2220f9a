import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { certificateFromSigners } from '../../../../src/primitives/consensus/certificate.ts'
import { nextStatus, type RatedCouncil } from '../../../../src/rules/council/council-status.ts'
import type { CertifiedBlock, TurnOrder } from '../../../../src/rules/council/proposer-turns.ts'
import { isHeard } from '../../../../src/rules/council/validator-activity.ts'

/* A council of eight with committees of four and cycles of four blocks: the status after block 8. */

const keyOf = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const COUNCIL = Array.from({ length: 8 }, (_, index) => ({ validator: keyOf(index), admission: index }))
const BEFORE: TurnOrder = { members: [0, 1, 2, 3].map(keyOf) }
const NOW: TurnOrder = { members: [2, 4, 5, 6].map(keyOf) }
const IDLE = { strikes: 3, restsUntil: 20 }
const SEAL = new Uint8Array(65)

const decided = (number: number, committee: TurnOrder, round = 0, signers = [0, 1, 2, 3]): CertifiedBlock => {
  const { members, proposers = members.length } = committee
  return {
    number,
    proposer: members[(number + round) % proposers] as Hex,
    committee,
    certificate: certificateFromSigners(round, 4, new Map(signers.map(at => [at, SEAL]))),
  }
}

const statusAfter = (last: CertifiedBlock, committee = NOW, idle: RatedCouncil['idle'] = new Map()) => {
  const none = new Set<Hex>()
  const before = { number: 4, members: COUNCIL, lapses: new Map(), jailed: none, queued: none, unproven: none, idle }
  const rules = { cycleBlocks: 4, inactiveBlocks: 20, committeeSize: 4 }
  const blocks = [last, ...[5, 6, 7].map(number => decided(number, committee))]
  return nextStatus({ number: 8, members: COUNCIL, jailed: none, before, blocks, ...rules })
}

test('a seal left out of the certificate of the last block of a committee silences no member that the next one is without', () => {
  const status = statusAfter(decided(4, BEFORE, 0, [0, 1, 2]))
  expect(isHeard(keyOf(3), status)).toBe(true)
})

test('a turn missed at the last block of a committee makes no member rest that has no turns in the next one', () => {
  expect([...statusAfter(decided(4, BEFORE, 1)).idle]).toEqual([])
})

test('a turn taken at the last block of a committee ends no rest', () => {
  const resting: TurnOrder = { members: [4, 5, 6, 0].map(keyOf), proposers: 3 }
  const status = statusAfter(decided(4, BEFORE), resting, new Map([[keyOf(0), IDLE]]))
  expect(status.idle.get(keyOf(0))).toEqual(IDLE)
})

test('members of both committees are counted for that block as well', () => {
  const before: TurnOrder = { members: [2, 0, 1, 3].map(keyOf) }
  expect(statusAfter(decided(4, before, 1)).idle.get(keyOf(2))).toEqual({ strikes: 1, restsUntil: 16 })
})
