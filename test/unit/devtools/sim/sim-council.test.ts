import { expect, test } from 'vitest'
import { stubKeys } from '../../../../devtools/sim/keys.ts'
import { createCouncil } from '../../../../devtools/sim/sim-council.ts'
import { faultsOf } from '../../../../src/rules/council/quorum.ts'

const { addresses } = stubKeys(7)

test('every committee is of distinct nodes, large enough, and tolerates its Byzantine members', () => {
  const byzantine = new Set([2, 3])
  const sizes = new Set<number>()
  let lying = 0
  for (let seed = 0; seed < 50; seed++) {
    const plan = { cycleBlocks: 2, smallest: 4, resting: false }
    const { committee } = createCouncil({ seed, addresses, byzantine, plan })
    for (let number = 1; number <= 40; number++) {
      const { members } = committee(number)!
      expect(new Set(members).size).toBe(members.length)
      expect(members.length).toBeGreaterThanOrEqual(4)
      const bad = members.filter(member => byzantine.has(addresses.indexOf(member))).length
      expect(bad).toBeLessThanOrEqual(faultsOf(members.length))
      lying += bad
      sizes.add(members.length)
      // The same for a whole cycle, whoever asks when.
      if (number % 2 === 0) expect(committee(number - 1)).toBe(committee(number))
    }
  }
  expect([...sizes].sort()).toEqual([4, 5, 6, 7])
  expect(lying).toBeGreaterThan(500)
})

test('without a plan all nodes serve always, and the first cycle has all of them', () => {
  const fixed = createCouncil({ seed: 1, addresses, byzantine: new Set(), plan: null })
  expect(fixed.committee(1)).toEqual({ members: addresses })
  expect(fixed.committee(1_000)).toBe(fixed.committee(1))
  const changing = createCouncil({
    seed: 1,
    addresses,
    byzantine: new Set(),
    plan: { cycleBlocks: 3, smallest: 1, resting: false },
  })
  expect(changing.committee(3)?.members).toEqual(addresses)
})
