import { expect, test } from 'vitest'
import { Stopwatch } from '../../../../src/chain/trace/request-timer.ts'

const late = () => {
  let nowMs = 0
  let turns = 0
  const stopwatch = new Stopwatch({
    giveWay: async () => void turns++,
    isCancelled: () => false,
    nowMs: () => nowMs,
  })
  stopwatch.restart(10)
  nowMs = 1_000
  return { stopwatch, turns: () => turns }
}

test('work that is late ends at its next turn', async () => {
  const { stopwatch, turns } = late()
  await expect(stopwatch.turn()).rejects.toMatchObject({ code: 'TRACE_TIMEOUT' })
  expect(turns()).toBe(1)
})

test('what must be whole only rests, however late it is', async () => {
  const { stopwatch, turns } = late()
  await stopwatch.rest()
  expect(turns()).toBe(1)
})
