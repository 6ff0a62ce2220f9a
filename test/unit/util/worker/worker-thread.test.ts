import { afterEach, expect, test } from 'vitest'
import { Thread } from '../../../../src/util/worker/worker-thread.ts'
import type { EchoMethods } from '../echo-thread.ts'

const open: Thread<EchoMethods>[] = []
const echo = (): Thread<EchoMethods> => {
  const thread = new Thread<EchoMethods>('echo', new URL('../echo-thread.ts', import.meta.url), { workerData: 'x' })
  open.push(thread)
  return thread
}
afterEach(async () => {
  for (const thread of open.splice(0)) await thread.close()
})

test('calls are answered one after the other, in their order', async () => {
  const thread = echo()
  const order: number[] = []
  await Promise.all([20, 0, 5].map(ms => thread.call('later', ms).then(value => order.push(value))))
  expect(order).toEqual([20, 0, 5])
})

test('what a method throws comes back, coded as it was', async () => {
  const thread = echo()
  await expect(thread.call('refuse', 'A_REASON')).rejects.toMatchObject({
    code: 'A_REASON',
    detail: { code: 'A_REASON' },
  })
  await expect(thread.call('fail')).rejects.toThrow('not foreseen')
  expect(await thread.call('later', 0)).toBe(0)
})

test('whoever waits when it is closed, or calls then, is told', async () => {
  const thread = echo()
  const waiting = thread.call('later', 60_000)
  const told = expect(waiting).rejects.toMatchObject({ code: 'THREAD_CLOSED' })
  await thread.close()
  await told
  await expect(thread.call('later', 0)).rejects.toMatchObject({ code: 'THREAD_CLOSED' })
})

test('a thread that dies fails its calls', async () => {
  const thread = echo()
  await expect(thread.call('die')).rejects.toThrow()
  await expect(thread.call('later', 0)).rejects.toThrow()
})
