import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type HeapSlot, IndexedHeap } from '../../../src/txpool/pool/indexed-heap.ts'

interface Item {
  key: number
  readonly id: number
  readonly slot: HeapSlot
}
const before = (a: Item, b: Item): boolean => (a.key === b.key ? a.id < b.id : a.key < b.key)
const sorted = (items: Iterable<Item>): Item[] => [...items].sort((a, b) => a.key - b.key || a.id - b.id)

test('the top is the smallest after any inserts, changes and removals', () => {
  const step = fc.record({ id: fc.nat(20), key: fc.nat(30), remove: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), steps => {
      const heap = new IndexedHeap<Item>(before, item => item.slot)
      const items = Array.from({ length: 21 }, (_, id): Item => ({ id, key: 0, slot: { index: -1 } }))
      const inside = new Set<Item>()
      for (const { id, key, remove } of steps) {
        const item = items[id]!
        if (remove) {
          heap.remove(item)
          inside.delete(item)
        } else {
          item.key = key
          heap.update(item)
          inside.add(item)
        }
        expect(heap.size).toBe(inside.size)
        expect(heap.peek()).toBe(sorted(inside)[0])
      }
      for (const item of sorted(inside)) {
        expect(heap.peek()).toBe(item)
        heap.remove(item)
      }
    }),
    { seed: Number(process.env['SEED'] ?? 1) },
  )
})

test('fill holds what it is given, in order, and forgets the rest', () => {
  const heap = new IndexedHeap<Item>(before, item => item.slot)
  const items = Array.from({ length: 50 }, (_, id): Item => ({ id, key: id, slot: { index: -1 } }))
  const others = Array.from({ length: 9 }, (_, id): Item => ({ id, key: -id, slot: { index: -1 } }))
  for (const item of [...items, ...others]) heap.update(item)
  for (const item of items) item.key = (item.id * 37) % 50
  heap.fill(items)
  for (const item of others) heap.remove(item)
  const out: number[] = []
  for (let item = heap.peek(); item; item = heap.peek()) {
    out.push(item.key)
    heap.remove(item)
  }
  expect(out).toEqual(items.map((_, i) => i))
})
