import { createHash } from 'node:crypto'
import { systemClock } from '@tandem/base/clock.ts'
import { describe, expect, test } from 'vitest'
import { FAUCET_LIMITS, type FaucetPolicy, PUBLIC_FAUCET } from '../../../src/config/limits/faucet.ts'
import { GrantStore } from '../../../src/faucet/grant-store.ts'
import { createFaucetLedger } from '../../../src/faucet/ledger.ts'
import { createProofOfWork } from '../../../src/faucet/proof-of-work.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { withTempDir } from '../../support/devnet.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'
import { ACCOUNT, GENESIS, OPEN_POLICY, openStore, recipient, senderOf, serviceOf } from '../../support/faucet/rig.ts'

const BEGIN = 1_900_000_000_000
const DAY = FAUCET_LIMITS.periodMs
const A = recipient(1)

class Time {
  ms = BEGIN
  nowMs = (): number => this.ms
}

const ledgerRig = (policy: FaucetPolicy = OPEN_POLICY, path = ':memory:') => {
  const time = new Time()
  const store = openStore(path)
  const ledger = createFaucetLedger(store, policy, time)
  const ask = (n: number, client = 'c', hasWork = false) => ledger.reserve({ address: recipient(n), client, hasWork })
  const settle = (n: number): void => {
    const grant = { address: recipient(n), nonce: n, raw: '0x00', hash: `0x${'22'.repeat(32)}` } as const
    store.sign(grant)
    store.settle(grant, 1)
  }
  return { time, store, ledger, ask, settle }
}

describe('one grant of an address in 24 hours', () => {
  test('a millisecond before is refused with the exact time, 24:00:00 is granted', () => {
    const { time, ask, settle } = ledgerRig()
    expect(ask(1)).toBe(BEGIN + DAY)
    settle(1)
    for (const after of [0, 1, DAY - 1_000, DAY - 1]) {
      time.ms = BEGIN + after
      expect(() => ask(1)).toThrow(`{"code":"TOO_SOON","untilMs":${BEGIN + DAY}}`)
    }
    time.ms = BEGIN + DAY
    expect(ask(1)).toBe(BEGIN + 2 * DAY)
  })

  test('another grant waits until the transfer of the first is in a block, however late', () => {
    const { time, ask, settle } = ledgerRig()
    ask(1)
    time.ms = BEGIN + 2 * DAY
    expect(() => ask(1)).toThrow('TOO_SOON')
    settle(1)
    ask(1)
  })

  test('a clock set back grants nothing twice, in the same process or after a restart', () =>
    withTempDir(async dir => {
      const path = `${dir}/f.sqlite`
      const { time, ask, settle, store } = ledgerRig(OPEN_POLICY, path)
      ask(1)
      settle(1)
      time.ms = BEGIN - 10 * DAY
      expect(() => ask(1)).toThrow('TOO_SOON')
      store.close()
      const again = ledgerRig(OPEN_POLICY, path)
      again.time.ms = BEGIN - 10 * DAY
      expect(() => again.ask(1)).toThrow('TOO_SOON')
      again.ask(2)
      again.time.ms = BEGIN + DAY - 1
      expect(() => again.ask(1)).toThrow('TOO_SOON')
      again.time.ms = BEGIN + DAY
      again.ask(1)
      again.store.close()
    }))
})

describe('limits of clients and of a day', () => {
  const policy = { ...OPEN_POLICY, dailyGrants: 6, clientGrants: 3, clientGrantsWithoutWork: 1, workBits: 8 }

  test('a client has one grant without work and three with it', () => {
    const { ask, time } = ledgerRig(policy)
    ask(1)
    expect(() => ask(2)).toThrow('"needsWork":true')
    ask(2, 'c', true)
    time.ms += 1_000
    ask(3, 'c', true)
    expect(() => ask(4, 'c', true)).toThrow(`{"code":"CLIENT_LIMIT","untilMs":${BEGIN + DAY},"needsWork":false}`)
    ask(4, 'other')
    time.ms = BEGIN + DAY
    ask(5, 'c', true)
  })

  test.each([
    ['IPv4', (n: number) => `192.0.${n >> 8}.${n & 255}`, '192.1.0.1', '198.51.0.1'],
    ['IPv6', (n: number) => `2001:db8:${(n >> 8).toString(16)}:${n & 255}`, '2001:db8:ff:0', '2001:db9:0:0'],
  ])('neighbours share a part of the day, which they cannot empty: %s', (_, client, near, far) => {
    const { ask } = ledgerRig({ ...policy, dailyGrants: 100, groupParts: PUBLIC_FAUCET.groupParts })
    let to = 0
    // A twentieth of the day for one narrow group, a quarter for one wide one.
    for (let n = 0; n < 5; n++) ask(to++, client(n))
    expect(() => ask(to, client(5))).toThrow('"code":"CLIENT_LIMIT"')
    for (let n = 256; n < 261; n++) ask(to++, client(n))
    for (const group of [512, 768, 1_024]) for (let n = 0; n < 5; n++) ask(to++, client(group + n))
    expect(() => ask(to, client(1_280))).toThrow('"code":"CLIENT_LIMIT"')
    const isNearInWide = near.startsWith(client(0).split(':').slice(0, 2).join(':')) && near.includes(':')
    if (isNearInWide) expect(() => ask(to, near)).toThrow('"code":"CLIENT_LIMIT"')
    else ask(to++, near)
    ask(to++, far)
    ask(to, 'a key')
  })

  test('all clients together have those of a day', () => {
    const { ask, time } = ledgerRig(policy)
    for (let n = 0; n < 6; n++) ask(n, `c${n}`)
    expect(() => ask(7, 'c7')).toThrow(`{"code":"DAILY_LIMIT","untilMs":${BEGIN + DAY}}`)
    time.ms = BEGIN + DAY
    ask(7, 'c7')
  })
})

describe('proof of work', () => {
  const solve = (challenge: string, address: string, bits: number): string => {
    for (let nonce = 0; ; nonce++) {
      const hash = createHash('sha256').update(`${challenge}:${address}:${nonce}`).digest()
      if (hash.readUInt32BE(0) >>> (32 - bits) === 0) return String(nonce)
    }
  }
  const work = createProofOfWork(new Uint8Array(32))
  const { challenge, atMs } = work.puzzle(BEGIN, 8)
  const nonce = solve(challenge, A, 8)

  test('counts for its address, its time and its faucet', () => {
    work.check(A, { challenge, atMs, nonce }, BEGIN + FAUCET_LIMITS.workMs, 8)
    const bad = (solution: object, nowMs = BEGIN, address = A) =>
      expect(() => work.check(address, { challenge, atMs, nonce, ...solution }, nowMs, 24)).toThrow('WORK_INVALID')
    bad({}, BEGIN + FAUCET_LIMITS.workMs + 1)
    bad({}, BEGIN - 1)
    bad({ atMs: BEGIN + 1 }, BEGIN + 1)
    bad({ challenge: 'x' })
    bad({ atMs: Number.NaN })
    bad({}, BEGIN, recipient(2))
    bad({ nonce: 'x'.repeat(1_000) })
    expect(() => createProofOfWork(new Uint8Array(32).fill(1)).check(A, { challenge, atMs, nonce }, BEGIN, 8)).toThrow()
  })

  test('sent again it grants nothing: its address has its grant', async () => {
    const service = serviceOf({
      store: openStore(':memory:'),
      node: new ModelChain(),
      clock: systemClock,
      policy: { ...OPEN_POLICY, workBits: 4 },
    })
    service.start()
    const puzzle = service.puzzle()
    const solution = { challenge: puzzle.challenge, atMs: puzzle.atMs, nonce: solve(puzzle.challenge, A, 4) }
    const request = { address: A, client: 'c', work: solution }
    expect((await service.request(request)).hash).toMatch(/^0x/)
    await expect(service.request(request)).rejects.toThrow('TOO_SOON')
    await expect(
      service.request({ ...request, address: recipient(9), work: { ...solution, nonce: 'z'.repeat(1_000) } }),
    ).rejects.toThrow()
    await service.stop()
  })
})

describe('service', () => {
  const start = (chain = new ModelChain()) => {
    const store = openStore(':memory:')
    const service = serviceOf({ store, node: chain, clock: systemClock })
    service.start()
    return { store, chain, service }
  }

  test('200 requests at once for one address make one transfer', async () => {
    const { chain, service } = start()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, () => service.request({ address: A, client: 'c', work: undefined })),
    )
    chain.mine()
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(chain.paid).toEqual([A])
    await service.stop()
  })

  test('contracts, an empty faucet and a node that is away reserve nothing', async () => {
    const { chain, service, store } = start()
    chain.contracts.add(A)
    await expect(service.request({ address: A, client: 'c', work: undefined })).rejects.toThrow('a contract')
    chain.contracts.clear()
    chain.isContract = () => Promise.reject(Object.assign(new Error('gone')))
    await expect(service.request({ address: A, client: 'c', work: undefined })).rejects.toThrow('gone')
    await service.stop()
    const poor = new ModelChain()
    poor.balanceWei = FAUCET_LIMITS.grantWei
    const other = start(poor)
    await expect(other.service.request({ address: A, client: 'c', work: undefined })).rejects.toThrow('FAUCET_EMPTY')
    expect(other.store.find(A)).toBeUndefined()
    await other.service.stop()
    expect(store).toBeDefined()
  })
})

describe('store', () => {
  test('a second process is kept out, another chain too', () =>
    withTempDir(async dir => {
      const path = `${dir}/faucet/grants.sqlite`
      const store = openStore(path)
      expect(() => openStore(path)).toThrow('FAUCET_STORE_LOCKED')
      store.close()
      expect(() => new GrantStore({ path, genesisHash: `0x${'33'.repeat(32)}`, sender: ACCOUNT.address })).toThrow(
        '"what":"chain"',
      )
      openStore(path).close()
    }))

  test('another key takes over only when nothing of the old one is under way', () =>
    withTempDir(async dir => {
      const path = `${dir}/grants.sqlite`
      const chain = new ModelChain()
      const store = openStore(path)
      const clock = new ManualClock()
      const sender = senderOf({ store, node: chain, clock })
      store.reserve(A, 'c', BEGIN)
      await sender.round()
      store.close()
      const other = { path, genesisHash: GENESIS, sender: recipient(5) }
      expect(() => new GrantStore(other)).toThrow('"what":"key"')
      chain.mine()
      const again = openStore(path)
      await senderOf({ store: again, node: chain, clock }).round()
      expect(again.unsettled()).toBe(0)
      again.close()
      new GrantStore(other).close()
    }))
})
