import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'
import { AddressBook, networkOf, type PeerRecord } from '../../../../src/network/core/address-book.ts'

const MEMBER: Hex = `0x${'aa'.repeat(20)}`

const record = (id: string, host: string, parts: Partial<PeerRecord> = {}): PeerRecord => ({
  sequence: 1,
  id,
  host,
  port: 30_333,
  validator: null,
  bytes: new Uint8Array(0),
  ...parts,
})

const makeBook = (seed = 1, connected: ReadonlySet<string> = new Set(), gone: string[] = []) => {
  const random = createRandom(seed)
  return new AddressBook({
    secret: `secret ${seed}`,
    isMember: validator => validator === MEMBER,
    isConnected: id => connected.has(id),
    random: () => random.next(),
    evicted: id => void gone.push(id),
  })
}

/** Honest nodes all over the internet, told by peers from all over. */
const honest = Array.from({ length: 60 }, (_, index) => ({
  id: `honest${index}`,
  host: `${20 + index}.${index}.1.1`,
  source: networkOf(`${100 + index}.7.1.1`),
}))

describe('an address book', () => {
  test('has news of a node when the number is higher', () => {
    const book = makeBook()
    book.put(record('a', '1.1.1.1', { sequence: 5 }), 's')
    expect([4, 5, 6].map(sequence => book.isNews('a', sequence))).toEqual([false, false, true])
    expect(book.isNews('b', 0)).toBe(true)
  })

  test.each([1, 2, 3])(
    'keeps most honest nodes, and all that were tried, whatever one network says (seed %i)',
    seed => {
      const book = makeBook(seed)
      for (const { id, host, source } of honest) book.put(record(id, host), source)
      for (const { id } of honest.slice(0, 20)) book.tried(id)
      // Eighty answers of sixty-four records each, of hosts all over the internet.
      const source = networkOf('6.6.6.6')
      for (let index = 0; index < 80 * 64; index++)
        book.put(record(`false${index}`, `${index % 200}.${index >> 8}.${index & 255}.9`), source)
      const invented = book.entries().filter(({ record: { id } }) => id.startsWith('false'))
      expect(invented.length).toBeLessThanOrEqual(NETWORK_LIMITS.bucketsPerSource * NETWORK_LIMITS.bucketRecords)
      expect(honest.slice(0, 20).every(({ id }) => book.isTried(id))).toBe(true)
      expect(honest.filter(({ id }) => book.get(id) !== undefined).length).toBeGreaterThan(50)
      // At most half of the records that it hands on may be invented while it knows as many tried ones.
      const handedOn = book.sample(40, '')
      expect(handedOn.filter(({ id }) => book.isTried(id)).length).toBeGreaterThanOrEqual(20)
    },
  )

  test('leaves the record of another node where it is, whoever tells its next one', () => {
    const book = makeBook()
    const own = networkOf('9.9.9.9')
    book.put(record('a', '9.9.9.9'), own)
    book.put(record('a', '9.9.9.9', { sequence: 2 }), networkOf('6.6.6.6'))
    expect(book.entries()).toMatchObject([{ record: { sequence: 2 }, source: own }])
    book.put(record('b', '8.8.8.8'), networkOf('6.6.6.6'))
    book.put(record('b', '8.8.8.8', { sequence: 2 }), networkOf('8.8.8.8'))
    expect(book.entries()[1]?.source).toBe(networkOf('8.8.8.8'))
  })

  test('keeps connected nodes, and is bounded', () => {
    const book = makeBook(1, new Set(['friend']))
    const source = networkOf('6.6.6.6')
    book.put(record('friend', '9.9.9.9'), source)
    for (let index = 0; index < 20_000; index++)
      book.put(record(`n${index}`, `${index % 223}.${index % 251}.${index & 255}.${index % 97}`), String(index % 400))
    expect(book.get('friend')).toBeDefined()
    expect(book.size).toBeLessThanOrEqual(NETWORK_LIMITS.newBuckets * NETWORK_LIMITS.bucketRecords)
  })

  test('has few records of one host, and evicts what is told too much', () => {
    const book = makeBook()
    const kept = Array.from({ length: 768 }, (_, index) => book.put(record(`x${index}`, '8.8.8.8'), `${index}`))
    expect(kept.filter(Boolean)).toHaveLength(NETWORK_LIMITS.recordsPerHost)
    expect(book.put(record('x0', '8.8.8.8', { sequence: 2 }), 's'), 'a newer one takes its own place').toBe(true)
    const local = Array.from({ length: 20 }, (_, index) => book.put(record(`l${index}`, '127.0.0.1'), '127.0.'))
    expect(local.every(Boolean), 'of the operator').toBe(true)
  })

  test('has the newest two of a validator, and never evicts those of a member', () => {
    const gone: string[] = []
    const book = makeBook(1, new Set(), gone)
    for (let index = 0; index < 1_000; index++)
      book.put(record(`m${index}`, `5.5.${index >> 8}.${index & 255}`, { validator: MEMBER, sequence: index }), 's')
    expect(book.entries().map(({ record: { id } }) => id)).toEqual(['m998', 'm999'])
    expect(gone).toHaveLength(998)
    expect(book.put(record('old', '5.5.5.5', { validator: MEMBER, sequence: 3 }), 's')).toBe(false)
    // Of many networks, so that they reach the buckets of the member.
    for (let index = 0; index < 5_000; index++)
      book.put(record(`n${index}`, `${10 + (index % 200)}.4.${index >> 8}.${index & 255}`), 's')
    expect([book.get('m998'), book.get('m999')].every(Boolean)).toBe(true)
  })

  test('puts a tried node back among the new when its bucket is full', () => {
    const book = makeBook()
    for (let index = 0; index < 400; index++) {
      book.put(record(`t${index}`, `7.7.${index >> 2}.${index & 255}`), `${index}`)
      book.tried(`t${index}`)
    }
    const tried = book.entries().filter(({ isTried }) => isTried)
    expect(tried.length).toBeLessThanOrEqual(NETWORK_LIMITS.bucketsPerNetwork * NETWORK_LIMITS.bucketRecords)
    expect(book.size).toBeGreaterThan(300)
  })

  test('hands on each record once, and none to the node it is about', () => {
    const book = makeBook()
    for (const id of 'abcdefgh') book.put(record(id, `1.2.3.${id.charCodeAt(0)}`), id)
    const sample = book.sample(5, 'a').map(({ id }) => id)
    expect(new Set(sample).size).toBe(5)
    expect(sample).not.toContain('a')
    expect(book.sample(50, 'a')).toHaveLength(7)
  })
})
