import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CALL_LIMITS } from '../../../../src/config/limits/clients.ts'
import { LocalTurns, Outruns } from '../../../../src/evm/calls/local-calls.ts'

const { turnMs, queue, skips, clientOutruns } = CALL_LIMITS.local

/** Holds the thread for the time of a whole turn. */
const spend = (): void => {
  const endMs = performance.now() + turnMs
  while (performance.now() < endMs);
}

test('after the time of a turn, calls wait for the next turn of the event loop, clients in rotation', async () => {
  const turns = new LocalTurns()
  const order: string[] = []
  const run = (client: string, name: string) =>
    turns.run(client, async () => {
      spend()
      order.push(name)
      return {}
    })
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')]
  await Promise.resolve()
  await all[0]
  expect(order).toEqual(['a1'])
  await turn()
  await turn()
  await Promise.all(all)
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('one call runs at a time, and a failing one gives its turn on', async () => {
  const turns = new LocalTurns()
  let running = 0
  let most = 0
  const work = async () => {
    running++
    most = Math.max(most, running)
    await turn()
    running--
    return {}
  }
  const failing = turns.run('a', () => Promise.reject(new Error('broken')))
  const others = Array.from({ length: 5 }, () => turns.run('b', work))
  await expect(failing).rejects.toThrow('broken')
  expect(await Promise.all(others)).toHaveLength(5)
  expect(most).toBe(1)
})

test('beyond the queue calls are not run here: those of the client with most', async () => {
  const turns = new LocalTurns()
  const { promise, resolve } = Promise.withResolvers<object>()
  const first = turns.run('a', () => promise)
  const greedy = Array.from({ length: queue }, () => turns.run('a', async () => ({})))
  const beyond = turns.run('a', async () => ({}))
  const modest = turns.run('b', async () => ({ client: 'b' }))
  expect(await beyond).toBeUndefined()
  resolve({})
  await first
  expect(await modest).toEqual({ client: 'b' })
  const ran = await Promise.all(greedy)
  expect(ran.filter(result => result === undefined)).toHaveLength(1)
})

test('calls like one that outran the bound skip this thread for a while', () => {
  const outruns = new Outruns()
  expect(outruns.skips('loop', 'a')).toBe(false)
  outruns.add('loop', 'a')
  for (let i = 0; i < skips; i++) expect(outruns.skips('loop', 'b')).toBe(true)
  expect(outruns.skips('loop', 'b')).toBe(false)
})

test('a client of many different ones skips it too, and others do not', () => {
  const outruns = new Outruns()
  for (let i = 0; i < clientOutruns; i++) outruns.add(`loop ${i}`, 'a')
  expect(outruns.skips('other', 'b')).toBe(false)
  expect(outruns.skips('other', 'a')).toBe(true)
})

test('what is remembered is bounded', () => {
  const outruns = new Outruns()
  for (let i = 0; i < 3 * CALL_LIMITS.local.remembered; i++) outruns.add(`loop ${i}`, `client ${i}`)
  expect(outruns.skips('loop 0', 'c')).toBe(false)
})
