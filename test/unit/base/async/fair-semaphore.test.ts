import { Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { FairSemaphore, type SemaphoreLimits } from '@tandem/base/async/fair-semaphore.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { describe, expect, test } from 'vitest'

const settled = () => new Promise(resolve => setImmediate(resolve))

/** A semaphore whose work tells by its names (the client's letter first) when it began, and what became of the rest. */
const rig = (limits: SemaphoreLimits, ledger?: ClientBudget) => {
  const semaphore = new FairSemaphore(limits, full => new Error(full), ledger)
  const begun: string[] = []
  const refused: string[] = []
  const releases = new Map<string, () => void>()
  const end = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      releases.get(name)?.()
      releases.delete(name)
    }
    await settled()
  }
  return {
    semaphore,
    begun,
    refused,
    start(name: string, weight = 1, cancellation?: Cancellation, reserved = 0): void {
      semaphore.acquire(name.slice(0, 1), { weight, reserved }, cancellation).then(
        release => {
          begun.push(name)
          releases.set(name, release)
        },
        error => refused.push(`${name} ${error.message}`),
      )
    },
    end,
    endAll: async (): Promise<void> => {
      while (releases.size > 0) await end(...releases.keys())
    },
  }
}

describe('work of clients', () => {
  test('runs a little at a time, less of one client, and clients are served in rotation', async () => {
    const { semaphore, begun, start, end } = rig({ total: 3, client: 2 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) start(name)
    await settled()
    expect(begun).toEqual(['a1', 'a2'])
    for (const name of ['b1', 'b2']) start(name)
    await settled()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    for (let at = 0; at < 6; at++) await end(begun[at] as string)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
    expect(semaphore.taken).toBe(0)
  })

  test('counts by its weight, and others have their own room', async () => {
    const { begun, start, end, endAll } = rig({ total: 1_000, client: 100 })
    for (const [name, weight] of [
      ['a1', 50],
      ['a2', 50],
      ['a3', 20],
      ['a4', 20],
      ['b1', 50],
    ] as const)
      start(name, weight)
    await settled()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    await end('a1')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
    await endAll()
  })

  test('that is heavier than a limit runs alone', async () => {
    const { semaphore, begun, start, end } = rig({ total: 1_000, client: 100 })
    start('a1', 200)
    start('a2')
    await settled()
    expect([begun, semaphore.taken]).toEqual([['a1'], 200])
    await end('a1')
    expect(begun).toEqual(['a1', 'a2'])
  })

  test('does not overtake heavier work of the same client', async () => {
    const { begun, start, endAll } = rig({ total: 1_000, client: 100 })
    start('a1', 60)
    start('a2', 60)
    start('a3')
    await settled()
    expect(begun).toEqual(['a1'])
    await endAll()
    expect(begun).toEqual(['a1', 'a2', 'a3'])
  })

  test('does not overtake heavier work of others that waits for the total, so that none waits for ever', async () => {
    const { semaphore, begun, start, end } = rig({ total: 10, client: 10 })
    start('a1', 6)
    start('b1', 6)
    start('c1', 1)
    await settled()
    expect([begun, semaphore.tryAcquire('d')]).toEqual([['a1'], undefined])
    await end('a1')
    expect(begun).toEqual(['a1', 'b1', 'c1'])
    expect(semaphore.tryAcquire('d')).toBeDefined()
  })

  test('begins at once where it may, without a promise', () => {
    const { semaphore } = rig({ total: 1, client: 1 })
    const release = semaphore.tryAcquire('a')
    expect([release === undefined, semaphore.tryAcquire('b')]).toEqual([false, undefined])
    release?.()
    expect(semaphore.taken).toBe(0)
  })
})

describe('work that waits', () => {
  test('is bounded, of each client and of all', async () => {
    const { refused, start } = rig({ total: 3, client: 2, queue: 5, clientQueue: 4 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'b1', 'b2', 'c1']) start(name)
    await settled()
    expect(refused).toEqual(['a7 owner', 'c1 total'])
  })

  test('gives way to that of a client with less, where the limits say so', async () => {
    const { begun, refused, start, endAll } = rig({ total: 1, client: 1, queue: 2, displaces: true })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) start(name)
    await settled()
    expect(refused).toEqual(['a4 total', 'a3 total'])
    await endAll()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
  })

  test('ends when it is cancelled, and makes way for what it held up', async () => {
    const { semaphore, begun, refused, start, endAll } = rig({ total: 10, client: 10 })
    const connection = new Cancellation()
    start('a1', 6)
    start('b1', 6, connection)
    start('c1', 1)
    connection.cancel()
    start('d1', 9, connection)
    await settled()
    expect([begun, refused]).toEqual([
      ['a1', 'c1'],
      ['b1 cancelled', 'd1 cancelled'],
    ])
    await expect(semaphore.acquire('d', { weight: 9 }, connection)).rejects.toThrow(Cancelled)
    await endAll()
    expect(semaphore.taken).toBe(0)
  })
})

describe('work that is part of a ledger', () => {
  test('waits for room there, in rotation of clients, and takes its share', async () => {
    const ledger = new ClientBudget({ total: 1_000, client: 100 })
    const { semaphore, begun, start, end, endAll } = rig({ total: 100, client: 100 }, ledger)
    const other = ledger.meter('a')
    other.hold(50)
    for (const [name, weight] of [
      ['a5', 5],
      ['a3', 3],
      ['a4', 4],
      ['b9', 9],
    ] as const)
      start(name, weight, undefined, 10 * weight)
    await settled()
    expect([begun, ledger.heldBy('a'), ledger.heldBy('b')]).toEqual([['a5', 'b9'], 100, 90])
    other.hold(0)
    await settled()
    expect(begun).toEqual(['a5', 'b9', 'a3'])
    await end('a5')
    expect(ledger.heldBy('a')).toBe(70)
    await endAll()
    expect([ledger.held, semaphore.taken]).toEqual([0, 0])
  })

  test('is wanted by others also where the client itself waits before them', async () => {
    const { semaphore, start, endAll } = rig({ total: 4, client: 3 })
    for (const name of ['a1', 'a2', 'h1', 'i1', 'a3']) start(name)
    expect(['a', 'h'].map(client => semaphore.isWantedBesides(client))).toEqual([false, true])
    start('j1')
    expect(['a', 'h', 'j'].map(client => semaphore.isWantedBesides(client))).toEqual([true, true, true])
    await settled()
    await endAll()
    expect(semaphore.isWantedBesides('a')).toBe(false)
  })

  test('takes no share where it charges the ledger itself', async () => {
    const ledger = new ClientBudget({ total: 1_000, client: 100 })
    const { semaphore } = rig({ total: 100, client: 10 }, ledger)
    ledger.meter('a').hold(100)
    const release = await semaphore.acquire('a', { weight: 6 })
    expect([ledger.held, semaphore.taken]).toEqual([100, 6])
    release()
    expect([ledger.held, semaphore.taken]).toEqual([100, 0])
  })
})
