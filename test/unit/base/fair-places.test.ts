import { FairPlaces, type Place } from '@tandem/base/fair-places.ts'
import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { SEED } from '../../support/seed.ts'

/** Places whose evictions are listed. */
const placesOf = (total: number, client: number) => {
  const places = new FairPlaces({ total, client })
  const evicted: string[] = []
  const take = (owner: string, name = owner, limit?: number): Place | undefined =>
    places.take(owner, () => evicted.push(name), limit)
  return { places, evicted, take }
}

describe('places', () => {
  test('an owner has a share of them, however many are free', () => {
    const { places, take, evicted } = placesOf(10, 3)
    for (let i = 0; i < 3; i++) expect(take('a')).toBeDefined()
    expect(take('a')).toBeUndefined()
    expect(take('b')).toBeDefined()
    expect([places.held, places.most, places.heldBy('a'), evicted]).toEqual([4, 3, 3, []])
    expect(take('proxy', 'proxy', Number.POSITIVE_INFINITY)).toBeDefined()
  })

  test('when all are taken, the longest idle one of the owner that holds most gives way', () => {
    const { places, take, evicted } = placesOf(5, 4)
    const a = [1, 2, 3, 4].map(i => take('a', `a${i}`) as Place)
    take('b')
    a[0]?.used()
    a[1]?.setBusy(true)
    expect(take('c')).toBeDefined()
    expect(evicted).toEqual(['a3'])
    expect(take('c')).toBeDefined()
    expect(evicted).toEqual(['a3', 'a4'])
    // Now a and c hold two each, b one.
    expect(take('b')).toBeUndefined()
    expect(take('d')).toBeDefined()
    expect(evicted).toEqual(['a3', 'a4', 'a1'])
    expect([places.held, places.heldBy('a'), places.heldBy('c')]).toEqual([5, 1, 2])
  })

  test('busy ones give way where there is no other, the longest unused first', () => {
    const { take, evicted } = placesOf(3, 3)
    const a = [1, 2, 3].map(i => take('a', `a${i}`) as Place)
    for (const place of a) place.setBusy(true)
    a[0]?.used()
    take('b')
    expect(evicted).toEqual(['a2'])
  })

  test('of owners with one each, the one that was used longest ago gives way, to a newcomer only', () => {
    const { take, evicted } = placesOf(3, 2)
    const [a] = ['a', 'b', 'c'].map(owner => take(owner) as Place)
    a?.used()
    expect(take('c')).toBeUndefined()
    expect(take('d')).toBeDefined()
    expect(evicted).toEqual(['b'])
  })

  test('one that gave way, or was freed, is nothing any more', () => {
    const { places, take } = placesOf(2, 2)
    const [old] = [take('a') as Place, take('a') as Place]
    take('b')
    for (const again of [old.free, old.used, old.free, () => old.setBusy(true)]) again()
    expect([places.held, places.heldBy('a'), places.heldBy('b'), places.most]).toEqual([2, 1, 1, 1])
  })

  test('sums stay true whatever owners do (seeded)', () => {
    const random = createRandom(SEED)
    const places = new FairPlaces({ total: 40, client: 15 })
    const held = new Map<Place, string>()
    for (let i = 0; i < 20_000; i++) {
      const owner = `o${random.below(8) * random.below(3)}`
      const all = [...held.keys()]
      const some = all[random.below(Math.max(1, all.length))]
      if (random.chance(0.6)) {
        const box: { place?: Place } = {}
        box.place = places.take(owner, () => held.delete(box.place as Place)) as Place
        if (box.place !== undefined) held.set(box.place, owner)
      } else if (some !== undefined) {
        if (random.chance(0.5)) some.used()
        else {
          some.free()
          held.delete(some)
        }
      }
      const counts = new Map<string, number>()
      for (const one of held.values()) counts.set(one, (counts.get(one) ?? 0) + 1)
      expect([places.held, places.most], `SEED=${SEED}`).toEqual([held.size, Math.max(0, ...counts.values())])
      expect(places.most).toBeLessThanOrEqual(15)
      expect(places.held).toBeLessThanOrEqual(40)
    }
  })
})
