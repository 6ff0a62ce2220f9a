import { copyFileSync, renameSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { FaucetNode } from '../../../src/faucet/faucet-node.ts'
import type { GrantStore } from '../../../src/faucet/grant-store.ts'
import { createFaucetLedger } from '../../../src/faucet/ledger.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { withTempDir } from '../../support/devnet.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'
import { OPEN_POLICY, openStore, recipient, senderOf } from '../../support/faucet/rig.ts'

/** Stops the process at one step: before it, or after it had its effect. */
class Killer {
  readonly steps: string[] = []
  readonly #at: number
  readonly #when: 'before' | 'after'

  constructor(at: number, when: 'before' | 'after') {
    this.#at = at
    this.#when = when
  }

  wrap<T extends object>(target: T, names: readonly string[]): T {
    return new Proxy(target, {
      get: (object, name) => {
        const value = Reflect.get(object, name) as unknown
        if (typeof value !== 'function') return value
        const bound = value.bind(object) as (...values: unknown[]) => unknown
        return names.includes(String(name))
          ? (...values: unknown[]) => this.#step(String(name), () => bound(...values))
          : bound
      },
    })
  }

  #step(name: string, work: () => unknown): unknown {
    const isLast = this.steps.push(name) - 1 === this.#at
    if (isLast && this.#when === 'before') throw new Error('killed')
    const result = work()
    if (!isLast) return result
    if (result instanceof Promise)
      return result.then(() => {
        throw new Error('killed')
      })
    throw new Error('killed')
  }
}

const WRITES = ['reserve', 'sign', 'flush', 'settle', 'release']
const CALLS = ['nonce', 'gasPrice', 'send', 'blockOf']
const A = recipient(1)

/** Grants and pays with a store and a node, in the steps of a process. */
const payOnce = async (store: GrantStore, node: FaucetNode, chain: ModelChain): Promise<void> => {
  const clock = new ManualClock()
  try {
    createFaucetLedger(store, OPEN_POLICY, clock).reserve({ address: A, client: 'c', hasWork: false })
  } catch (error) {
    if (!String(error).includes('TOO_SOON')) throw error
  }
  const sender = senderOf({ store, node, clock })
  await sender.round()
  chain.mine()
  await sender.round()
}

/** Answers the steps up to the kill, or all when it never comes. */
const runKilled = (at: number, when: 'before' | 'after', losesPool: boolean): Promise<readonly string[]> =>
  withTempDir(async dir => {
    const path = `${dir}/grants.sqlite`
    const chain = new ModelChain()
    const killer = new Killer(at, when)
    const first = openStore(path)
    await payOnce(killer.wrap(first, WRITES), killer.wrap(chain as FaucetNode, CALLS), chain).catch(error => {
      if ((error as Error).message !== 'killed') throw error
    })
    first.close()
    if (losesPool) chain.losePool()
    const second = openStore(path)
    await payOnce(second, chain, chain)
    expect([second.unsettled(), chain.paid], `killed ${when} step ${at} of ${killer.steps.join(' ')}`).toEqual([0, [A]])
    second.close()
    return killer.steps
  })

test.each([
  ['before', false],
  ['after', false],
  ['before', true],
  ['after', true],
] as const)('a kill %s any step makes one transfer, pool lost: %s', async (when, losesPool) => {
  const all = await runKilled(Number.POSITIVE_INFINITY, when, losesPool)
  expect(all).toEqual(['reserve', 'nonce', 'gasPrice', 'sign', 'flush', 'send', 'nonce', 'blockOf', 'settle'])
  for (let at = 0; at < all.length; at++) await runKilled(at, when, losesPool)
})

test('nothing is sent before it is on disk, and a disk that fails holds it back', async () => {
  const chain = new ModelChain()
  const store = openStore(':memory:')
  const order: string[] = []
  let isBroken = true
  const watched = new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name === 'flush')
        return async () => {
          order.push('flush')
          if (isBroken) throw Object.assign(new Error('input/output error'), { code: 'EIO' })
          await target.flush()
        }
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const node = new Proxy(chain as FaucetNode, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name === 'send') order.push('send')
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  store.reserve(A, 'c', 0)
  const sender = senderOf({ store: watched, node, clock: new ManualClock() })
  await expect(sender.round()).rejects.toThrow('input/output error')
  await expect(sender.round()).rejects.toThrow('input/output error')
  expect(order).toEqual(['flush', 'flush'])
  isBroken = false
  await sender.round()
  expect(order).toEqual(['flush', 'flush', 'flush', 'send'])
  chain.mine()
  await sender.round()
  expect(chain.paid).toEqual([A])
})

test('after a failed sync none succeeds in this process: the system may take what was to be written for written', () =>
  withTempDir(async dir => {
    const path = `${dir}/grants.sqlite`
    const store = openStore(path)
    store.reserve(A, 'c', 1)
    renameSync(`${path}-wal`, `${path}-away`)
    await expect(store.flush()).rejects.toThrow('ENOENT')
    renameSync(`${path}-away`, `${path}-wal`)
    await expect(store.flush()).rejects.toThrow('ENOENT')
    store.close()
    const again = openStore(path)
    again.reserve(recipient(2), 'c', 2)
    await again.flush()
    expect(again.unsettled()).toBe(2)
    again.close()
  }))

test('steps reach the log of the file with a flush, and survive a copy of the files', () =>
  withTempDir(async dir => {
    const path = `${dir}/grants.sqlite`
    const store = openStore(path)
    for (let i = 1; i <= 20; i++) store.reserve(recipient(i), 'c', i)
    await Promise.all([store.flush(), store.flush()])
    // As a machine that lost its power finds them.
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${dir}/copy.sqlite${suffix}`)
    const copy = openStore(`${dir}/copy.sqlite`)
    expect(copy.unsettled()).toBe(20)
    copy.close()
    store.close()
    await store.flush().catch(() => undefined)
    const again = openStore(path)
    expect(again.unsettled()).toBe(20)
    again.close()
  }))

test('a nonce that another transaction took is replaced, without a second payment', async () => {
  const chain = new ModelChain()
  const store = openStore(':memory:')
  const clock = new ManualClock()
  store.reserve(A, 'c', 0)
  const sender = senderOf({ store, node: chain, clock })
  await sender.round()
  chain.takeNonce()
  for (let round = 0; round < 5; round++) {
    await sender.round()
    chain.mine()
  }
  await sender.round()
  expect([store.unsettled(), chain.paid]).toEqual([0, [A]])
})

test('what is signed is sent again, the same bytes, when the pool lost it', async () => {
  const chain = new ModelChain()
  const store = openStore(':memory:')
  const clock = new ManualClock()
  store.reserve(A, 'c', 0)
  const sender = senderOf({ store, node: chain, clock })
  await sender.round()
  const [before] = store.signed()
  chain.losePool()
  await clock.advance(10_000)
  await sender.round()
  expect(store.signed()).toEqual([before])
  chain.mine()
  await sender.round()
  expect([store.unsettled(), chain.paid]).toEqual([0, [A]])
})
