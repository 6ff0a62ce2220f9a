import { afterEach, expect, test } from 'vitest'
import { WorkerThread } from '../../../../src/util/worker/worker-thread.ts'
import type { EchoMethods } from '../echo-thread.ts'

const open: WorkerThread<EchoMethods>[] = []
const echo = (): WorkerThread<EchoMethods> => {
  const workerThread = new WorkerThread<EchoMethods>('echo', new URL('../echo-thread.ts', import.meta.url), {
    workerData: 'x',
  })
  open.push(workerThread)
  return workerThread
}
afterEach(async () => {
  for (const workerThread of open.splice(0)) await workerThread.close()
})

test('calls are answered one after the other, in their order', async () => {
  const workerThread = echo()
  const order: number[] = []
  await Promise.all([20, 0, 5].map(ms => workerThread.call('later', ms).then(value => order.push(value))))
  expect(order).toEqual([20, 0, 5])
})

test('what a method throws comes back, coded as it was', async () => {
  const workerThread = echo()
  await expect(workerThread.call('refuse', 'A_REASON')).rejects.toMatchObject({
    code: 'A_REASON',
    detail: { code: 'A_REASON' },
  })
  await expect(workerThread.call('fail')).rejects.toThrow('not foreseen')
  expect(await workerThread.call('later', 0)).toBe(0)
})

test('pending and later calls of a closed thread are rejected', async () => {
  const workerThread = echo()
  const waiting = workerThread.call('later', 60_000)
  const told = expect(waiting).rejects.toMatchObject({ code: 'THREAD_CLOSED' })
  await workerThread.close()
  await told
  await expect(workerThread.call('later', 0)).rejects.toMatchObject({ code: 'THREAD_CLOSED' })
})

test('a thread that dies fails its calls', async () => {
  const workerThread = echo()
  await expect(workerThread.call('die')).rejects.toThrow()
  await expect(workerThread.call('later', 0)).rejects.toThrow()
})
