import { finishSlicedWork, runSlicedWork, type SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { expect, test } from 'vitest'

function* counting(parts: number): SlicedWork<number> {
  for (let part = 1; part < parts; part++) yield
  return parts
}

test('work runs without a pause when none is due', () => {
  expect(finishSlicedWork(counting(5))).toBe(5)
  expect(runSlicedWork(counting(5), () => undefined)).toBe(5)
})

test('work pauses between its parts as often as it is asked to', async () => {
  let [asked, paused] = [0, 0]
  const result = runSlicedWork(counting(10), () =>
    ++asked % 3 === 0 ? Promise.resolve().then(() => void paused++) : undefined,
  )
  expect(result).toBeInstanceOf(Promise)
  expect(await result).toBe(10)
  expect([asked, paused]).toEqual([9, 3])
})

test('a pause that rejects ends the work', async () => {
  const stopped = new Error('stopped')
  const slicedWork = counting(10)
  await expect(runSlicedWork(slicedWork, () => Promise.reject(stopped))).rejects.toBe(stopped)
})
