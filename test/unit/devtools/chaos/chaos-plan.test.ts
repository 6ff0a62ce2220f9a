import { describe, expect, test } from 'vitest'
import { type ChaosOptions, type ChaosWave, chaosWaves, maxFaultyNodes } from '../../../../devtools/chaos/chaos-plan.ts'

const names = (role: string, count: number) => Array.from({ length: count }, (_, index) => `${role}-${index + 1}`)
const take = (count: number, options: Partial<ChaosOptions> = {}): readonly ChaosWave[] => {
  const waves = chaosWaves({ seed: 7, validators: names('v', 7), full: names('f', 1), down: 2, ...options })
  return Array.from({ length: count }, () => waves.next().value)
}
const text = (waves: readonly ChaosWave[]): readonly string[] =>
  waves.map(({ wave, quietMs, blows }) =>
    [
      `${wave} ${quietMs}:`,
      ...blows.map(chaosFault => `${chaosFault.node} ${chaosFault.action} ${chaosFault.afterMs} ${chaosFault.forMs}`),
    ].join(' '),
  )

test.each([
  [1, 0],
  [3, 0],
  [4, 1],
  [6, 1],
  [7, 2],
  [31, 10],
])('of %i validators %i may be away', (validators, faults) => expect(maxFaultyNodes(validators)).toBe(faults))

describe('waves', () => {
  test('the seed alone decides', () => {
    expect(text(take(50))).toEqual(text(take(50)))
    expect(text(take(5))).not.toEqual(text(take(5, { seed: 8 })))
    expect(text(take(4))).toMatchInlineSnapshot(`
      [
        "1 529: v-7 kill 608 2904",
        "2 1100: v-6 restart 778 1343 v-2 kill 440 3302 f-1 pause 1467 1635",
        "3 2695: v-2 pause 822 4619 f-1 pause 1370 3412",
        "4 2054: v-7 restart 60 1214 v-4 kill 638 317",
      ]
    `)
  })

  test('never more validators down than allowed, no node twice in a wave, and every node gets every kind of fault', () => {
    const seen = new Set<string>()
    for (const { blows } of take(2_000)) {
      const struck = blows.map(({ node }) => node)
      expect(new Set(struck).size).toBe(struck.length)
      expect(struck.length).toBeGreaterThan(0)
      expect(struck.filter(name => name.startsWith('v')).length).toBeLessThanOrEqual(2)
      for (const { node, action, afterMs, forMs } of blows) {
        seen.add(`${node} ${action}`)
        expect(afterMs).toBeLessThanOrEqual(1_500)
        expect(forMs).toBeLessThanOrEqual(6_000)
      }
    }
    expect(seen.size).toBe(8 * 3)
  })

  test('validators that none can spare are left alone', () => {
    const waves = take(200, { validators: names('v', 3), down: 0 })
    expect(new Set(waves.flatMap(({ blows }) => blows.map(({ node }) => node)))).toEqual(new Set(['f-1']))
  })
})
