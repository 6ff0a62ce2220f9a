import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { STRATUM_LIMITS } from '../../../../src/config/limits/stratum.ts'
import { createMinerAdmission } from '../../../../src/powchain/stratum/core/miner-admission.ts'
import { ShareAccounts } from '../../../../src/powchain/stratum/core/share-accounts.ts'
import { MINER } from '../../../support/powchain/headers.ts'
import { StratumClient, startStratum } from '../../../support/powchain/stratum-server.ts'

/** A miner with a job. */
const loggedIn = async (port: number): Promise<{ readonly client: StratumClient; readonly job: string }> => {
  const client = new StratumClient(port)
  await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
  await client.ask('mining.authorize', [`${MINER}.rig`])
  const { params } = await client.notified()
  return { client, job: params?.[0] as string }
}

const nonceOf = (value: number): string => value.toString(16).padStart(12, '0')

describe('a flood of junk shares of the second hash function', () => {
  test('that claims mix hashes costs no Argon2id hash, and ends its connection', async () => {
    const { port, argon2, server } = await startStratum(0, 60)
    const { client, job } = await loggedIn(port)
    for (let at = 0; at < 1_000; at++)
      client.write(
        JSON.stringify({
          id: at,
          method: 'mining.submit',
          params: [`${MINER}.rig`, job, nonceOf(at), '11'.repeat(32)],
        }),
      )
    await client.closed
    // One in a thousand of such claims meets the first share target by chance.
    expect(argon2.calls).toBeLessThanOrEqual(2)
    const { lowDifficulty, accepted } = server.accounts.total
    expect(lowDifficulty).toBeGreaterThan(0)
    expect(accepted).toBe(0)
  })

  test('without them costs no more Argon2id hashes than its connection may have', async () => {
    const { port, argon2, server, clock } = await startStratum(0, 60)
    const { client, job } = await loggedIn(port)
    const burst = STRATUM_LIMITS.shares[2].burst
    const startedMs = clock.nowMs()
    for (let at = 0; at < 3_000; at++)
      client.write(JSON.stringify({ id: at, method: 'mining.submit', params: [`${MINER}.rig`, job, nonceOf(at)] }))
    await client.closed
    // Hashes under way when the connection closed still end.
    await expect.poll(() => server.accounts.total.lowDifficulty).toBeGreaterThanOrEqual(burst)
    await expect.poll(() => argon2.calls - server.accounts.total.lowDifficulty).toBe(0)
    const seconds = Math.ceil((clock.nowMs() - startedMs) / 1_000)
    expect(argon2.calls).toBeLessThanOrEqual(burst + seconds * STRATUM_LIMITS.shares[2].perSecond)
    expect(server.accounts.total.limited).toBeGreaterThan(100)
  })
})

test('faults of a miner of this machine end no other connection of it', async () => {
  const { port } = await startStratum(20)
  const { client: honest } = await loggedIn(port)
  const faulty = new StratumClient(port)
  for (let at = 0; at < 2 * STRATUM_LIMITS.faults.burst; at++) faulty.write('no JSON')
  await faulty.closed
  const { error } = await honest.ask('mining.submit', [`${MINER}.rig`, 'no job', nonceOf(0)])
  expect(error).not.toBeNull()
  expect((await honest.ask('mining.extranonce.subscribe')).result).toBe(true)
})

test('a worker is in the log from its first accepted share on: logins alone fill no log', async () => {
  const lines: string[] = []
  const info = (_: object, message: string) => void lines.push(message)
  const { port } = await startStratum(20, 0, { ...silentLogger, info })
  const left = () => lines.filter(line => line === 'worker left').length
  for (let round = 0; round < 3; round++) {
    const idle = new StratumClient(port)
    await idle.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
    for (let at = 0; at < STRATUM_LIMITS.workersPerConnection; at++)
      expect((await idle.ask('mining.authorize', [`${MINER}.rig${at}`])).result).toBe(true)
    idle.socket.destroy()
    await idle.closed
  }
  const { client, job } = await loggedIn(port)
  for (let nonce = 0; ; nonce++) {
    const { result } = await client.ask('mining.submit', [`${MINER}.rig`, job, nonceOf(nonce)])
    if (result === true) break
  }
  client.socket.destroy()
  await expect.poll(left).toBe(1)
  expect(lines.filter(line => line === 'worker joined')).toHaveLength(1)
})

describe('a server whose places are all held by two addresses', () => {
  test('gives one to a third, and takes it from a connection that found no share', async () => {
    const admission = createMinerAdmission({ ...STRATUM_LIMITS, connections: 4, connectionsPerAddress: 2 })
    const { port, server } = await startStratum(20, 0, silentLogger, admission)
    const { client: mining, job } = await loggedIn(port)
    for (let nonce = 0; ; nonce++) {
      const { result } = await mining.ask('mining.submit', [`${MINER}.rig`, job, nonceOf(nonce)])
      if (result === true) break
    }
    const idle = new StratumClient(port)
    await expect.poll(() => server.connections).toBe(2)
    const others = [1, 2].map(() => new StratumClient(port, '127.0.0.2'))
    await expect.poll(() => server.connections).toBe(4)
    const third = new StratumClient(port, '127.0.0.3')
    expect((await third.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])).error).toBeNull()
    await idle.closed
    expect([mining, ...others, third].map(({ socket }) => socket.destroyed)).toEqual([false, false, false, false])
    await expect.poll(() => server.connections).toBe(4)
  })
})

describe('a connection', () => {
  test('that sends a line too long, no login, or nothing for long, is closed', async () => {
    const { port, clock, server } = await startStratum(20)
    const long = new StratumClient(port)
    long.socket.write('x'.repeat(STRATUM_LIMITS.lineBytes + 1))
    await long.closed
    const silent = new StratumClient(port)
    const { client } = await loggedIn(port)
    await expect.poll(() => server.connections).toBe(2)
    clock.skippedMs += STRATUM_LIMITS.loginMs + 1
    await silent.closed
    expect(client.socket.destroyed).toBe(false)
    clock.skippedMs += STRATUM_LIMITS.idleMs
    await client.closed
    await expect.poll(() => server.connections).toBe(0)
  })

  test('that never reads its jobs is closed', async () => {
    const { port, server, advance } = await startStratum(20)
    const { client } = await loggedIn(port)
    client.socket.pause()
    // The buffers of the kernel take megabytes before the server keeps anything itself.
    for (let blocks = 0; server.connections > 0 && blocks < 200_000; blocks++) {
      advance(1)
      await new Promise(setImmediate)
    }
    expect(server.connections).toBe(0)
  })

  test('may name sixteen workers and not more', async () => {
    const { port } = await startStratum(20)
    const client = new StratumClient(port)
    await client.ask('mining.subscribe', ['miner/1', 'EthereumStratum/1.0.0'])
    const answers: unknown[] = []
    for (let at = 0; at <= STRATUM_LIMITS.workersPerConnection; at++)
      answers.push((await client.ask('mining.authorize', [`${MINER}.w${at}`])).result)
    expect(answers).toEqual([...answers.slice(1).map(() => true), null])
    expect((await client.ask('mining.authorize', [`${MINER}.w3`])).result).toBe(true)
  })
})

describe('admission', () => {
  const START = 1_000_000

  test('bounds connections by address and in all, and their rate', () => {
    const admission = createMinerAdmission()
    const { connects, connectionsPerAddress, connections } = STRATUM_LIMITS
    let nowMs = START
    const refusals = Array.from({ length: connects.burst + 1 }, () => admission.enter('10.0.0.1', nowMs))
    expect(refusals.filter(Boolean)).toEqual(['rate'])
    while (admission.connections < connectionsPerAddress) {
      nowMs += 1_000
      admission.enter('10.0.0.1', nowMs)
    }
    nowMs += 60_000
    expect(admission.enter('10.0.0.1', nowMs)).toBe('address')
    for (let at = 0; admission.connections < connections; at++) admission.enter(`10.1.${at >> 8}.${at & 255}`, nowMs)
    expect(admission.crowded()).toBeUndefined()
    expect(admission.enter('10.2.0.1', nowMs)).toBeUndefined()
    expect(admission.crowded()).toBe('10.0.0.1')
    admission.leave('10.0.0.1')
    expect(admission.enter('10.0.0.1', nowMs)).toBe('full')
    admission.leave('10.2.0.1')
    expect(admission.enter('10.0.0.1', nowMs)).toBeUndefined()
  })

  test('of a full server takes places from the address with the most, until all addresses have as many', () => {
    const few = { ...STRATUM_LIMITS, connections: 8, connectionsPerAddress: 4 }
    const admission = createMinerAdmission(few)
    for (const address of ['10.0.0.1', '10.0.0.2'])
      for (let at = 0; at < 4; at++) expect(admission.enter(address, START)).toBeUndefined()
    const displaced: string[] = []
    for (const address of ['10.0.0.3', '10.0.0.3', '10.0.0.4', '10.0.0.4']) {
      expect(admission.enter(address, START)).toBeUndefined()
      const crowded = admission.crowded() as string
      displaced.push(crowded)
      admission.leave(crowded)
      expect(admission.crowded()).toBeUndefined()
    }
    expect(displaced).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.2'])
    // Each of the four has two now: no further address gets more than the others.
    expect(admission.enter('10.0.0.4', START)).toBe('full')
    expect(admission.enter('10.0.0.5', START)).toBeUndefined()
  })

  test('counts the addresses of one /64 of IPv6 as one, and an IPv4 address in both its forms', () => {
    const admission = createMinerAdmission()
    const { connectionsPerAddress, connects } = STRATUM_LIMITS
    for (let at = 0; at < connectionsPerAddress; at++)
      expect(admission.enter(`2001:db8:0:7::${at.toString(16)}`, START + at * 1_000)).toBeUndefined()
    const nowMs = START + connectionsPerAddress * 1_000
    expect(admission.enter('2001:db8:0:7:ffff::1', nowMs)).toBe('address')
    expect(admission.enter('2001:db8:0:8::1', nowMs)).toBeUndefined()
    admission.leave('2001:db8:0:7::9')
    expect(admission.enter('2001:db8:0:7:ffff::1', nowMs)).toBeUndefined()
    for (let at = 0; at < connects.burst; at++) admission.enter('::ffff:10.0.0.1', nowMs)
    expect(admission.enter('10.0.0.1', nowMs)).toBe('rate')
    const forged = (at: number) => admission.fault(`2001:db8:0:8::${at.toString(16)}`, `${at}`, 1, nowMs)
    for (let at = 1; !forged(at); at++) expect(at).toBeLessThanOrEqual(STRATUM_LIMITS.faults.burst)
    expect(admission.enter('2001:db8:0:8:1::', nowMs)).toBe('banned')
  })

  test('bans an address after too many faults, for a while; the loopback only loses the connection', () => {
    const admission = createMinerAdmission()
    const faults = (address: string) => {
      for (let count = 1; ; count++) if (admission.fault(address, 'a', 1, START)) return count
    }
    expect(faults('10.0.0.1')).toBe(STRATUM_LIMITS.faults.burst + 1)
    expect(admission.enter('10.0.0.1', START)).toBe('banned')
    expect(admission.banned(START)).toBe(1)
    expect(admission.enter('10.0.0.1', START + STRATUM_LIMITS.banMs)).toBeUndefined()
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1']) {
      expect(faults(address)).toBe(STRATUM_LIMITS.faults.burst + 1)
      expect(admission.enter(address, START)).toBeUndefined()
    }
    expect(admission.fault('10.0.0.9', 'a', 0, START)).toBe(false)
  })
})

describe('accounts', () => {
  test('count shares by worker and outcome, and estimate hash rates from the work of the last minutes', () => {
    const accounts = new ShareAccounts()
    const { rateMs } = STRATUM_LIMITS
    for (let atMs = 0; atMs < 3 * rateMs; atMs += 10_000) accounts.add('a', 'accepted', 10_000, atMs)
    accounts.add('a', 'stale', 0, 3 * rateMs)
    accounts.add('b', 'duplicate', 0, 3 * rateMs)
    expect(accounts.account('a', 3 * rateMs)).toMatchObject({ counts: { accepted: 180, stale: 1, duplicate: 0 } })
    expect(accounts.hashrate(3 * rateMs)).toBeCloseTo(1_000, -2)
    expect([accounts.active(3 * rateMs), accounts.size]).toEqual([1, 2])
    expect(accounts.hashrate(5 * rateMs)).toBe(0)
    expect(accounts.active(5 * rateMs)).toBe(0)
    expect(accounts.total).toMatchObject({ accepted: 180, stale: 1, duplicate: 1 })
  })

  test('take one lucky share of a new worker for no giant', () => {
    const accounts = new ShareAccounts()
    accounts.add('a', 'accepted', 60_000, 1)
    expect(accounts.hashrate(2)).toBeLessThanOrEqual(1_000)
  })

  test('forget the worker that is idle for longest', () => {
    const accounts = new ShareAccounts()
    for (let at = 0; at <= STRATUM_LIMITS.workers; at++) accounts.add(`w${at}`, 'accepted', 1, at)
    expect(accounts.size).toBe(STRATUM_LIMITS.workers)
    expect(accounts.account('w0', 0)).toBeUndefined()
  })
})
