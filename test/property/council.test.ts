import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCouncil, decodeCycle, encodeCouncil, encodeCycle } from '../../src/chain/council-rows.ts'
import { type CouncilMember, parseGenesis } from '../../src/config/genesis.ts'
import { LIMITS } from '../../src/config/limits.ts'
import { drawCommittee, faultsOf, proposerIndex } from '../../src/consensus/committee.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { councilStorage, readCouncil } from '../../src/rules/council-storage.ts'
import { nextSeed } from '../../src/rules/randao.ts'
import { nextLapses, qualifiedOf } from '../../src/rules/service.ts'
import { bytesToHex, type Hex, hexToBytes, toWord, ZERO_HASH } from '../../src/util/bytes.ts'
import { SEED } from '../support/seed.ts'

const options = { seed: SEED, numRuns: 200 }
const member = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => member(index + 1))

/** Probability that of `drawn` out of `all` at least `atLeast` are of the `marked`. */
const hypergeometricTail = (all: number, marked: number, drawn: number, atLeast: number): number => {
  let tail = 0
  for (let k = atLeast; k <= Math.min(drawn, marked); k++)
    tail += Math.exp(lnChoose(marked, k) + lnChoose(all - marked, drawn - k) - lnChoose(all, drawn))
  return tail
}
const lnChoose = (n: number, k: number): number => {
  if (k < 0 || k > n) return Number.NEGATIVE_INFINITY
  let sum = 0
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i)
  return sum
}

/** Rows of the table in reference/consensus.md 1.9: council, down, committee, chance that a height can never finish. */
const TABLE = [
  [50, 5, 4, 0.045],
  [50, 10, 7, 0.13],
  [50, 10, 13, 0.067],
  [100, 20, 22, 0.035],
  [100, 20, 31, 0.012],
] as const

/** Seeds of successive cycles, as a chain draws them; `DRAWS=1000000` for the long run. */
const DRAWS = Number(process.env['DRAWS'] ?? 3_000)

test.each(TABLE)(
  'of %i members, %i down, a committee of %i is stuck as often as chance says',
  (all, down, size, table) => {
    const expected = hypergeometricTail(all, down, size, faultsOf(size) + 1)
    expect(Math.abs(expected - table)).toBeLessThan(table * 0.1)
    let seed: Hex = bytesToHex(keccak256(Uint8Array.of(SEED & 0xff)))
    let stuck = 0
    for (let draw = 0; draw < DRAWS; draw++) {
      seed = nextSeed(seed, ZERO_HASH, draw)
      const { members } = drawCommittee(council(all), size, hexToBytes(seed))
      if (members.filter(address => Number(address) <= down).length > faultsOf(size)) stuck++
    }
    // Five standard deviations: a fair draw fails one run in two millions.
    const deviation = Math.sqrt((expected * (1 - expected)) / DRAWS)
    expect(Math.abs(stuck / DRAWS - expected), `SEED=${SEED}`).toBeLessThan(5 * deviation)
  },
  120_000 + DRAWS,
)

test('in a cycle equal members propose equally often, but for one block', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(10_000), (size, cycle) => {
      const counts = new Array<number>(size).fill(0)
      for (let number = cycle * 60 + 1; number <= (cycle + 1) * 60; number++) {
        const index = proposerIndex(size, number, 0)
        counts[index] = (counts[index] ?? 0) + 1
      }
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
    options,
  )
})

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytes => bytesToHex(bytes.map(byte => byte | 1)))
const members: fc.Arbitrary<readonly CouncilMember[]> = fc.uniqueArray(
  fc.record({
    // What a word can hold: a name ends before its zeros.
    name: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 32 })
      .filter(text => Buffer.byteLength(text) <= LIMITS.council.nameBytes && !text.includes('\0')),
    validator: address,
    owner: address,
    reward: address,
    stakeWei: fc.bigInt({ min: 1n, max: 2n ** 128n }),
  }),
  { selector: ({ validator }) => validator, minLength: 1, maxLength: 20 },
)

test('the council that genesis writes is read back as it was, word by word and row by row', () => {
  fc.assert(
    fc.property(members, given => {
      const words = councilStorage(given, { openRegistration: true, unbondingSeconds: 5, minStakeWei: 7n })
      expect(readCouncil(slot => words.get(slot) ?? ZERO_HASH)).toEqual(given)
      expect(decodeCouncil(encodeCouncil(given))).toEqual(given)
    }),
    options,
  )
})

test('the record of a cycle is read back as it was', () => {
  const lapse = fc.record({ silentBlocks: fc.integer({ min: 1, max: 1e9 }), outUntil: fc.nat(1e9) })
  const marks = fc.array(fc.record({ lapse: fc.option(lapse), jailed: fc.boolean() }), { minLength: 20, maxLength: 20 })
  fc.assert(
    fc.property(members, marks, fc.nat(1e9), (given, marked, councilAt) => {
      const record = {
        number: 60,
        councilAt,
        members: given,
        lapses: new Map(
          given.flatMap(({ validator }, at) => {
            const lapse = marked[at]?.lapse
            return lapse ? [[validator, lapse] as const] : []
          }),
        ),
        jailed: new Set(given.filter((_, at) => marked[at]?.jailed).map(({ validator }) => validator)),
      }
      const read = decodeCycle(60, encodeCycle(record), at => {
        expect(at).toBe(councilAt)
        return given
      })
      expect(read).toEqual(record)
    }),
    options,
  )
})

test('storage that is no council is never taken for one, and reading it ends', () => {
  const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(toWord)
  fc.assert(
    fc.property(members, fc.array(word), fc.nat(), (given, garbage, at) => {
      const words = new Map(councilStorage(given, { openRegistration: false, unbondingSeconds: 0, minStakeWei: 1n }))
      const slots = [...words.keys()]
      garbage.forEach((value, index) => void words.set(slots[(at + index) % slots.length] as Hex, value))
      const read = readCouncil(slot => words.get(slot) ?? ZERO_HASH)
      if (read === undefined) return
      expect(read.length).toBeGreaterThan(0)
      expect(new Set(read.map(({ validator }) => validator)).size).toBe(read.length)
      for (const { name } of read) expect(name.length).toBeLessThanOrEqual(LIMITS.council.nameBytes)
    }),
    options,
  )
})

test('whatever members do, enough of the council serve, and who seals always does unless jailed', () => {
  const cycle = fc.record({
    sealed: fc.uint8Array({ minLength: 12, maxLength: 12 }).map(bytes => [...bytes].map(byte => byte < 100)),
    jailed: fc.option(fc.nat(11), { freq: 12 }),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(cycle, { maxLength: 30 }), (size, cycles) => {
      const all = council(size)
      const jailed = new Set<Hex>()
      let lapses: Parameters<typeof nextLapses>[1] = new Map()
      let serving = all
      cycles.forEach(({ sealed, jailed: culprit }, at) => {
        const number = (at + 1) * 60
        if (culprit !== null && culprit < size) jailed.add(member(culprit + 1))
        const attendance = new Map(
          serving.map(who => [who, { certificates: 60, sealed: sealed[Number(who) - 1] ?? false }] as const),
        )
        lapses = nextLapses(all, lapses, attendance, { number, inactiveBlocks: 180 })
        const heard = serving.filter(who => attendance.get(who)?.sealed && !jailed.has(who))
        serving = qualifiedOf(all, { lapses, jailed }, number)
        expect(serving.length).toBeGreaterThanOrEqual(Math.min(size, LIMITS.council.leastServing))
        expect(new Set(serving).size).toBe(serving.length)
        for (const who of heard) expect(serving).toContain(who)
        // Jailed ones make up the number only when all others serve.
        if (serving.some(who => jailed.has(who)))
          for (const who of all) if (!jailed.has(who)) expect(serving).toContain(who)
      })
    }),
    options,
  )
})

test('names of a genesis file are those the contract answers with', () => {
  const name = 'Ünion ✓'
  const genesis = parseGenesis(
    JSON.stringify({
      format: 'tandem/1',
      network: 'devnet',
      timestamp: 1,
      council: [{ name, validator: member(1), reward: member(2), stake: (35n * 10n ** 18n).toString() }],
      foundation: member(3),
      alloc: {},
    }),
  )
  const words = councilStorage(genesis.council, { ...genesis.params.council, minStakeWei: genesis.params.minStakeWei })
  expect(readCouncil(slot => words.get(slot) ?? ZERO_HASH)?.[0]?.name).toBe(name)
})
