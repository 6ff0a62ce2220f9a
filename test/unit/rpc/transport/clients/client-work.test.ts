import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { ClientSlots } from '../../../../../src/rpc/transport/clients/client-slots.ts'

const { work } = RPC_LIMITS
let slots: ClientSlots
/** Weights of the works in progress, in the order in which they began. */
let begun: number[] = []
let leaves: (() => void)[] = []
beforeEach(() => {
  slots = new ClientSlots(work, 'heavy requests')
  begun = []
  leaves = []
})
afterEach(() => expect(slots.taken).toBe(0))

const start = (client: string, weight: number, cancellation?: Cancellation): Promise<void> =>
  slots.take(client, cancellation, weight).then(leave => {
    begun.push(weight)
    leaves.push(leave)
  })
const settle = () => new Promise(resolve => setImmediate(resolve))
const endAll = async () => {
  while (leaves.length > 0) {
    for (const leave of leaves.splice(0)) leave()
    await settle()
  }
}

test('work of all kinds counts together for a client, and others have their own', async () => {
  const half = work.client / 2
  for (const weight of [half, half, 20, 20]) void start('a', weight)
  await settle()
  expect(begun).toEqual([half, half])
  await start('b', half)
  expect(begun).toEqual([half, half, half])
  leaves.shift()?.()
  await settle()
  expect(begun).toEqual([half, half, half, 20, 20])
  await endAll()
})

test('work heavier than all that a client may have runs alone', async () => {
  void start('a', 2 * work.client)
  void start('a', 1)
  await settle()
  expect(begun).toEqual([2 * work.client])
  leaves.shift()?.()
  await settle()
  expect(begun).toEqual([2 * work.client, 1])
  await endAll()
})

test('light work does not overtake heavy work of the same client, so that none waits for ever', async () => {
  for (const weight of [60, 60, 1]) void start('a', weight)
  await settle()
  expect(begun).toEqual([60])
  await endAll()
  expect(begun).toEqual([60, 60, 1])
})

test('what waits is bounded, and leaves with its connection', async () => {
  await start('a', work.client)
  const connection = new Cancellation()
  const waiting = Array.from({ length: work.clientQueue }, () => start('a', 20, connection))
  await expect(start('a', 20)).rejects.toThrow('too many of your heavy requests')
  connection.cancel()
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true)
  await endAll()
})
