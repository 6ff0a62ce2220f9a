import { expect, test } from 'vitest'
import { CallOrder } from '../../../../src/rpc/router/call-order.ts'

const settled = () => new Promise(resolve => setImmediate(resolve))

test('a message without an effect lets no call overtake the change before it', async () => {
  const order = new CallOrder()
  const change = Promise.withResolvers<void>()
  const ran: string[] = []
  void order.run('change', () => change.promise.then(() => ran.push('change')))
  order.arrive().release()
  await settled()
  void order.run(undefined, () => ran.push('read'))
  await settled()
  change.resolve()
  await settled()
  expect(ran).toEqual(['change', 'read'])
})

test('submissions that always overlap leave nothing behind', async () => {
  const order = new CallOrder()
  let last = Promise.withResolvers<void>()
  void order.run('submission', () => last.promise)
  for (let i = 0; i < 1_000; i++) {
    const next = Promise.withResolvers<void>()
    void order.run('submission', () => next.promise)
    last.resolve()
    last = next
    await settled()
  }
  const { before } = order.arrive()
  last.resolve()
  // Each nested result would be an array of the results before it.
  expect(await before).toBeUndefined()
})
