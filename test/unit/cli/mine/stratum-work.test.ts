import { createServer, type Socket } from 'node:net'
import { bytesToHex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { type Clock, systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { StratumWork } from '../../../../src/cli/mine/stratum-work.ts'
import { PROOF_SEEDS } from '../../../../src/crypto/proof-hash.ts'
import { Miner, type MinerWork } from '../../../../src/powchain/mining/miner.ts'
import { MINER } from '../../../support/powchain/headers.ts'
import { startStratum } from '../../../support/powchain/stratum-server.ts'

/** Waits are cut to a hundredth. */
const fast: Clock = {
  nowMs: () => systemClock.nowMs(),
  schedule: (atMs, fn) => systemClock.schedule(systemClock.nowMs() + (atMs - systemClock.nowMs()) / 100, fn),
}

const clientOf = (port: number) => {
  const news: string[] = []
  const jobs: (MinerWork | undefined)[] = []
  const source: StratumWork = new StratumWork({
    host: '127.0.0.1',
    port,
    user: `${MINER}.rig`,
    clock: fast,
    onJob() {
      jobs.push(source.job())
      miner.refresh()
    },
    onNews: text => news.push(text),
  })
  const miner: Miner = new Miner({ source, threads: 2, duty: 1, clock: systemClock, logger: silentLogger })
  onTestFinished(async () => {
    await source.stop()
    await miner.stop()
  })
  return { source, miner, news, jobs }
}

test.each([20, 0])('mines headers for the server of a node whose fork is at %d', async fork => {
  const { port, pool, server } = await startStratum(fork)
  const { source, miner } = clientOf(port)
  miner.start()
  source.start()
  await expect.poll(() => pool.size).toBe(1)
  expect(pool.best()?.header.coinbase).toBe(MINER)
  await expect.poll(() => source.counts.accepted).toBeGreaterThan(0)
  expect(server.accounts.account(`${MINER}.rig`, 0)?.counts.accepted).toBeGreaterThan(0)
  expect(server.accounts.total.duplicate).toBe(0)
})

/** A server that does this with each connection. */
const serverThat = async (greet: (socket: Socket, connection: number) => void): Promise<number> => {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    greet(socket, ++connections)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

const [, SEED_2] = PROOF_SEEDS.map(seed => bytesToHex(seed).slice(2))
const line = (message: object) => `${JSON.stringify(message)}\n`
const SUBSCRIBED = line({ id: 1, result: [['mining.notify', 'x', 'EthereumStratum/1.0.0'], 'ab12'], error: null })
const AUTHORIZED = line({ id: 2, result: true, error: null })
const notify = (seed: unknown) =>
  line({ id: null, method: 'mining.notify', params: ['7', seed, ZERO_HASH.slice(2), true] })

test('connects again after each loss, later each time, and has no job meanwhile', async () => {
  const port = await serverThat((socket, connection) => {
    if (connection <= 3) socket.destroy()
    else {
      socket.write(SUBSCRIBED + AUTHORIZED)
      socket.write(line({ id: null, method: 'mining.set_target', params: [toWord(5n).slice(2)] }) + notify(SEED_2))
      if (connection === 4) setTimeout(() => socket.end(), 50)
    }
  })
  const { source, news, jobs } = clientOf(port)
  source.start()
  await expect.poll(() => jobs.filter(Boolean).length).toBe(1)
  expect(news.slice(0, 3).map(text => /next try in (\d+) s/.exec(text)?.[1])).toEqual(['1', '2', '4'])
  const job = { version: 2, target: 5n, noncePrefix: Uint8Array.of(0xab, 0x12) }
  await expect.poll(() => jobs.filter(Boolean).length).toBe(2)
  expect(jobs.slice(-3)).toEqual([expect.objectContaining(job), undefined, expect.objectContaining(job)])
  // The wait begins anew once a login was accepted.
  expect(news.findLast(text => /next try/.test(text))).toMatch(/next try in 1 s/)
})

test('says what a server answers that it cannot use', async () => {
  for (const [answers, reason] of [
    ['x\n', /no JSON/],
    [line({ id: 1, result: null, error: [20, 'go away', null] }), /go away/],
    [line({ id: 1, result: [['mining.notify', 'x'], 7], error: null }), /another dialect/],
    [SUBSCRIBED + line({ id: 2, result: null, error: [24, 'who are you', null] }), /who are you/],
    [SUBSCRIBED + AUTHORIZED + notify('00'.repeat(32)), /upgrade/],
    [SUBSCRIBED + AUTHORIZED + notify(7), /cannot be read/],
    ['y'.repeat(20_000), /too long/],
  ] as const) {
    const port = await serverThat(socket => void socket.write(answers))
    const { source, news } = clientOf(port)
    source.start()
    await expect.poll(() => news.find(text => reason.test(text)), { message: String(reason) }).toBeDefined()
    expect(source.job()).toBeUndefined()
    await source.stop()
  }
})

test('a difficulty without an exact target is understood', async () => {
  const port = await serverThat(socket => {
    socket.write(SUBSCRIBED + AUTHORIZED + line({ method: 'mining.set_difficulty', params: [1] }) + notify(SEED_2))
  })
  const { source } = clientOf(port)
  source.start()
  await expect.poll(() => source.job()?.target).toBe(0xffffn << 208n)
})
