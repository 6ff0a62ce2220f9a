import { expect, test } from 'vitest'
import { RequestTimer } from '../../../../src/chain/trace/request-timer.ts'

const late = () => {
  let nowMs = 0
  let turns = 0
  const requestTimer = new RequestTimer({
    giveWay: async () => void turns++,
    isCancelled: () => false,
    nowMs: () => nowMs,
  })
  requestTimer.restart(10)
  nowMs = 1_000
  return { requestTimer, turns: () => turns }
}

test('work that is late ends at its next turn', async () => {
  const { requestTimer, turns } = late()
  await expect(requestTimer.turn()).rejects.toMatchObject({ code: 'TRACE_TIMEOUT' })
  expect(turns()).toBe(1)
})

test('what must be whole only rests, however late it is', async () => {
  const { requestTimer, turns } = late()
  await requestTimer.rest()
  expect(turns()).toBe(1)
})
