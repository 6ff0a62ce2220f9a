import { bytesToHex, type Hex, hexToBytes, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeCouncil, decodeCycle, encodeCouncil, encodeCycle } from '../../src/chain/council/council-rows.ts'
import { type CouncilMember, parseGenesis } from '../../src/config/genesis/genesis.ts'
import { COUNCIL_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { drawCommittee } from '../../src/consensus/committee.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { activatedMembers, activateMembers } from '../../src/rules/council/activation-queue.ts'
import { councilStorage, readCouncil } from '../../src/rules/council/council-storage.ts'
import { nextSeed } from '../../src/rules/council/cycle.ts'
import { proposerIndex } from '../../src/rules/council/proposer-turns.ts'
import { faultsOf, quorumOf } from '../../src/rules/council/quorum.ts'
import { nextInactivities, qualifiedValidators } from '../../src/rules/council/validator-activity.ts'
import { settledMembers } from '../support/consensus/eligible.ts'
import { SEED } from '../support/seed.ts'
import { hypergeometricTail } from '../unit/rules/council/sampling.ts'

const options = { seed: SEED, numRuns: 200 }
const member = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const council = (size: number): readonly Hex[] => Array.from({ length: size }, (_, index) => member(index + 1))
const registered = (size: number) => council(size).map((validator, at) => ({ validator, admission: at + 1 }))
const eligible = (size: number) => settledMembers(council(size))

/** Known values of the hypergeometric distribution (docs/design/council.md#committee): council, down, committee, chance that a height can never finish. */
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
      const { members } = drawCommittee(eligible(all), { committeeSize: size, seed: hexToBytes(seed), first: 1 })
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
        const index = proposerIndex({ members: council(size) }, number, 0)
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
    // Names that fit one word: a name ends before its zeros.
    name: fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 32 })
      .filter(text => Buffer.byteLength(text) <= COUNCIL_BOUNDS.nameBytes && !text.includes('\0')),
    validator: address,
    owner: address,
    reward: address,
    admission: fc.integer({ min: 1, max: 0xffff_ffff }),
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
  const mark = fc.record({
    lapse: fc.option(lapse),
    jailed: fc.boolean(),
    activation: fc.constantFrom('queued', 'unproven', null),
    idleness: fc.option(fc.record({ strikes: fc.integer({ min: 1, max: 6 }), restsUntil: fc.nat(1e9) })),
  })
  const marks = fc.array(mark, { minLength: 20, maxLength: 20 })
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
        queued: new Set(given.filter((_, at) => marked[at]?.activation === 'queued').map(({ validator }) => validator)),
        unproven: new Set(
          given.filter((_, at) => marked[at]?.activation === 'unproven').map(({ validator }) => validator),
        ),
        idle: new Map(
          given.flatMap(({ validator }, at) => {
            const idleness = marked[at]?.idleness
            return idleness ? [[validator, idleness] as const] : []
          }),
        ),
        seed: toWord(BigInt(councilAt) << 200n),
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
      for (const { name } of read) expect(name.length).toBeLessThanOrEqual(COUNCIL_BOUNDS.nameBytes)
    }),
    options,
  )
})

/** Members that a cycle jails, and how often each of its members seals, of 255. */
interface CycleOfCouncil {
  readonly readiness: number
  readonly draws: Uint8Array
  readonly culprits: readonly number[]
}

const history = (most: number): fc.Arbitrary<readonly CycleOfCouncil[]> =>
  fc.array(
    fc.record({
      readiness: fc.oneof(fc.constant(0), fc.constant(255), fc.nat(255)),
      draws: fc.uint8Array({ minLength: most, maxLength: most }),
      culprits: fc.oneof(
        { weight: 6, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(fc.nat(most - 1), { maxLength: most }) },
      ),
    }),
    { maxLength: 40 },
  )

const MOST = 40

test('whatever members do: at most f are excluded, jailed ones first, sealing members serve, and earlier exclusions do not count', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MOST }), history(MOST), (size, cycles) => {
      const all = registered(size)
      const f = faultsOf(size)
      const jailed = new Set<Hex>()
      let inactivities: Parameters<typeof nextInactivities>[1] = new Map()
      let serving: readonly Hex[] = council(size)
      cycles.forEach(({ readiness, draws, culprits }, at) => {
        const number = (at + 1) * 60
        for (const culprit of culprits) if (culprit < size) jailed.add(member(culprit + 1))
        const seals = (who: Hex) => (draws[Number(who) - 1] as number) < readiness
        const attendance = new Map(serving.map(who => [who, { certificates: 60, sealed: seals(who) }] as const))
        inactivities = nextInactivities(council(size), inactivities, attendance, { number, inactiveBlocks: 180 })
        const heard = serving.filter(who => seals(who) && !jailed.has(who))
        serving = qualifiedValidators(all, { lapses: inactivities, jailed, unproven: new Set() }, number).map(
          ({ validator }) => validator,
        )
        const out = council(size).filter(who => !serving.includes(who))
        const silent = out.filter(who => !jailed.has(who))
        expect(serving.length).toBeGreaterThanOrEqual(Math.min(size, COUNCIL_BOUNDS.leastServing))
        expect(out.length).toBeLessThanOrEqual(Math.max(f, jailed.size))
        expect(silent.length).toBeLessThanOrEqual(Math.max(0, f - jailed.size))
        for (const who of heard) expect(serving).toContain(who)
        // Jailed ones serve only to make up the number, when all others do.
        if (serving.some(who => jailed.has(who))) {
          expect(silent).toEqual([])
          expect(serving.length).toBe(Math.min(size, COUNCIL_BOUNDS.leastServing))
        }
        // Silence puts out the longest silent first.
        const silence = (who: Hex) => inactivities.get(who)?.silentBlocks ?? 0
        for (const who of silent)
          for (const other of serving)
            if ((inactivities.get(other)?.outUntil ?? 0) > number && !jailed.has(other))
              expect(silence(who)).toBeGreaterThanOrEqual(silence(other))
        // The same from other orders of the same council.
        const reversed = qualifiedValidators(
          all.toReversed(),
          { lapses: inactivities, jailed, unproven: new Set() },
          number,
        )
        expect(reversed.map(({ validator }) => validator).toReversed()).toEqual(serving)
      })
    }),
    options,
  )
})

test('members that fall silent for good never halt a chain later on: it halts at once or not at all', () => {
  const deaths = fc.array(fc.record({ cycle: fc.nat(60), who: fc.nat(MOST - 1) }), { maxLength: MOST })
  fc.assert(
    fc.property(fc.integer({ min: 4, max: MOST }), deaths, (size, falls) => {
      const silent = new Set<Hex>()
      let inactivities: Parameters<typeof nextInactivities>[1] = new Map()
      // Committees are known a cycle ahead.
      let [now, next] = [council(size), council(size)]
      const hasQuorum = (serving: readonly Hex[], without?: Hex) =>
        serving.filter(who => !silent.has(who) && who !== without).length >= quorumOf(serving.length)
      for (let cycle = 0; cycle < 120; cycle++) {
        for (const { cycle: at, who } of falls) {
          const victim = member(who + 1)
          if (at === cycle && who < size && hasQuorum(now, victim) && hasQuorum(next, victim)) silent.add(victim)
        }
        expect(hasQuorum(now), `cycle ${cycle}`).toBe(true)
        const attendance = new Map(now.map(who => [who, { certificates: 60, sealed: !silent.has(who) }] as const))
        const number = (cycle + 1) * 60
        inactivities = nextInactivities(council(size), inactivities, attendance, { number, inactiveBlocks: 180 })
        const after = qualifiedValidators(
          registered(size),
          { lapses: inactivities, jailed: new Set(), unproven: new Set() },
          number,
        )
        ;[now, next] = [next, after.map(({ validator }) => validator)]
      }
    }),
    options,
  )
})

/** Runs cycles of a council whose first members are always there; `arrivals`: the cycle of each admission, and if its node ever comes. */
const growing = (size: number, arrivals: readonly { readonly cycle: number; readonly isThere: boolean }[]) => {
  const away = new Set(arrivals.flatMap(({ isThere }, at) => (isThere ? [] : [member(size + at + 1)])))
  const byCycle = arrivals.map(({ cycle }) => cycle).toSorted((a, b) => a - b)
  let inactivities: Parameters<typeof nextInactivities>[1] = new Map()
  let before = { members: registered(size), queued: new Set<Hex>(), unproven: new Set<Hex>() } as Parameters<
    typeof activateMembers
  >[0]['before']
  let [now, next] = [council(size), council(size)]
  for (let cycle = 0; cycle < 100; cycle++) {
    expect(now.filter(who => !away.has(who)).length, `cycle ${cycle}`).toBeGreaterThanOrEqual(quorumOf(now.length))
    const members = registered(size + byCycle.filter(at => at <= cycle).length)
    const attendance = new Map(now.map(who => [who, { certificates: 60, sealed: !away.has(who) }] as const))
    const number = (cycle + 1) * 60
    const names = members.map(({ validator }) => validator)
    inactivities = nextInactivities(names, inactivities, attendance, { number, inactiveBlocks: 180 })
    const validatorRecord = { lapses: inactivities, jailed: new Set<Hex>() }
    const hasSealed = (who: Hex) => attendance.get(who)?.sealed ?? false
    before = {
      members,
      ...activateMembers({ number, registered: members, before, validatorRecord, hasSealed, committeeSize: 256 }),
    }
    const record = { ...validatorRecord, unproven: before.unproven }
    const after = qualifiedValidators(activatedMembers(before), record, number)
    ;[now, next] = [next, after.map(({ validator }) => validator)]
  }
  return now
}

const arrivals = (isThere: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ cycle: fc.nat(40), isThere }), { maxLength: MOST })

test('new members whose nodes never come do not halt a chain, however many are admitted and when', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 12 }), arrivals(fc.boolean()), (size, given) => {
      growing(size, given)
    }),
    options,
  )
})

test('new members whose nodes are there all serve in the end', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), arrivals(fc.constant(true)), (size, given) => {
      expect(growing(size, given)).toEqual(council(size + given.length))
    }),
    options,
  )
})

test('a member that returns serves again, however many were excluded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: MOST }), fc.nat(MOST), (size, some) => {
      const gone = new Set(council(size).slice(0, 1 + (some % (size - quorumOf(size)))))
      let inactivities: Parameters<typeof nextInactivities>[1] = new Map()
      let [now, next] = [council(size), council(size)]
      // Ten cycles away; afterwards each waits for its time, and for those before it.
      const patience = 10 + 3 + 3 * (gone.size + 1)
      for (let cycle = 0; cycle < patience; cycle++) {
        const attendance = new Map(
          now.map(who => [who, { certificates: 60, sealed: cycle >= 10 || !gone.has(who) }] as const),
        )
        const number = (cycle + 1) * 60
        inactivities = nextInactivities(council(size), inactivities, attendance, { number, inactiveBlocks: 180 })
        const after = qualifiedValidators(
          registered(size),
          { lapses: inactivities, jailed: new Set(), unproven: new Set() },
          number,
        )
        ;[now, next] = [next, after.map(({ validator }) => validator)]
      }
      expect(now).toEqual(council(size))
    }),
    options,
  )
})

test('with at most f members silent or lying in all, the liars never reach a third of those who serve', () => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 128 }), fc.nat(), fc.nat(), (size, some, more) => {
      const f = faultsOf(size)
      const silent = some % (f + 1)
      const liars = more % (f - silent + 1)
      const serving = qualifiedValidators(registered(size), silentOnes(size, silent), 100).length
      expect(serving).toBeGreaterThanOrEqual(size - silent)
      expect(liars).toBeLessThanOrEqual(faultsOf(serving))
    }),
    options,
  )
})

test('even where honest members are kept from being heard, two ninths of the council may lie', () => {
  for (let size = 4; size <= 256; size++) {
    const serving = qualifiedValidators(registered(size), silentOnes(size, size), 100).length
    expect(serving).toBe(Math.max(size - faultsOf(size), COUNCIL_BOUNDS.leastServing))
    expect(faultsOf(serving)).toBeGreaterThanOrEqual(Math.floor((2 * size - 2) / 9))
  }
})

const silentOnes = (size: number, count: number) => ({
  lapses: new Map(council(size).map((who, at) => [who, { silentBlocks: 600, outUntil: at < count ? 700 : 0 }])),
  jailed: new Set<Hex>(),
  unproven: new Set<Hex>(),
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
