import type { Hex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ADDRESS_BYTES,
  ComparedLog,
  criteriaBytes,
  criteriaKey,
  EVERY_LOG,
  itemsOf,
  packCriteria,
} from '../../../../src/chain/store/log-criteria.ts'
import { isWanted } from '../../../support/plain-logs.ts'
import { SEED } from '../../../support/seed.ts'

const hex = (width: number) =>
  fc.nat(7).map((n): Hex => `0x${n.toString(16).padStart(2 * width, n % 2 === 0 ? '0' : 'a')}`)
const address = hex(20)
const topic = hex(32)
const wanted = fc.record({
  addresses: fc.array(address, { maxLength: 4 }),
  topics: fc.array(fc.option(fc.array(topic, { maxLength: 4 })), { maxLength: 4 }),
})
const log = fc.record({ address, topics: fc.array(topic, { maxLength: 4 }) })

test('packed criteria match what the lists match', () => {
  fc.assert(
    fc.property(wanted, log, (lists, one) => {
      expect(new ComparedLog(one).matches(packCriteria(lists))).toBe(isWanted(lists, one))
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})

test('equal criteria have one key, others another', () => {
  fc.assert(
    fc.property(wanted, wanted, (a, b) => {
      const plain = ({ addresses, topics }: typeof a) =>
        JSON.stringify([[...new Set(addresses)].sort(), topics.map(list => [...new Set(list ?? [])].sort())])
      expect(criteriaKey(packCriteria(a)) === criteriaKey(packCriteria(b))).toBe(plain(a) === plain(b))
    }),
    { seed: SEED, numRuns: 1_000 },
  )
})

test('takes the bytes of its items once', () => {
  const [a, b]: Hex[] = [`0x${'bb'.repeat(20)}`, `0x${'aa'.repeat(20)}`]
  const packed = packCriteria({ addresses: [a as Hex, b as Hex, a as Hex], topics: [null, [`0x${'01'.repeat(32)}`]] })
  expect(criteriaBytes(packed)).toBe(2 * 20 + 32)
  expect(itemsOf(packed.addresses, ADDRESS_BYTES)).toEqual([b, a])
  expect(criteriaBytes(EVERY_LOG)).toBe(0)
})
