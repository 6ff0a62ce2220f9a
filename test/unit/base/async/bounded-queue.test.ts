import { BoundedQueue } from '@tandem/base/async/bounded-queue.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'

test('behaves like an array that refuses beyond its limit', () => {
  const step = fc.oneof(
    fc.nat(100),
    fc.constant('shift' as const),
    fc.constant('take' as const),
    fc.constant('clear' as const),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 200, size: 'max' }), (limit, steps) => {
      const queue = new BoundedQueue<number>(limit)
      const model: number[] = []
      for (const action of steps) {
        if (action === 'shift') expect(queue.shift()).toBe(model.shift())
        else if (action === 'take') expect(queue.take(3)).toEqual(model.splice(0, 3))
        else if (action === 'clear') {
          if (model.length < limit / 2) continue
          queue.clear()
          model.length = 0
        } else {
          expect(queue.push(action)).toBe(model.length < limit)
          if (model.length < limit) model.push(action)
        }
        expect([queue.size, queue.isFull, queue.peek()]).toEqual([model.length, model.length === limit, model[0]])
      }
    }),
    { seed: Number(process.env['SEED'] ?? 1) },
  )
})

test('a limit that is none is refused', () => {
  for (const limit of [0, -1, 1.5, Number.NaN]) expect(() => new BoundedQueue(limit)).toThrow('queue limit')
})
