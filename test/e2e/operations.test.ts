import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountsFromMnemonic, TEST_MNEMONIC } from '../../src/devnet/accounts.ts'
import { alarmsIn } from '../support/alarms.ts'
import { tandem } from '../support/command.ts'
import { rpc, withTempDir } from '../support/devnet.ts'
import { deployToken, startLoad } from '../support/load.ts'
import { eventually, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { Socket } from '../support/rpc/socket.ts'
import { eventuallyPositive, scrape } from '../support/scrape.ts'
import { SEED } from '../support/seed.ts'

/** `SLOW=1`: a whole minute of silence instead of as many blocks in less time. */
const SLOW = process.env['SLOW'] === '1'

const healthOf = async ({ http }: { http: string }): Promise<[status: number, body: Record<string, unknown>]> => {
  const response = await fetch(`${http}/health`)
  return [response.status, (await response.json()) as Record<string, unknown>]
}

const loadOn = async (ready: Ready, pauseMs = 10) => {
  const token = await deployToken(ready)
  return startLoad({
    node: ready,
    token,
    random: createRandom(SEED).next,
    pauseMs,
    onAcknowledged() {},
    onRefused() {},
  })
}

// A chain of two validators of which one never comes: no quorum, no block. It needs a while to be called unhealthy.
let lonely: NodeProcess
let lonelyReady: Ready
let lonelyDir: string

const KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const PRESENT = '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'
const ABSENT = `0x${'77'.repeat(20)}`

beforeAll(async () => {
  lonelyDir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  const stake = (35n * 10n ** 18n).toString()
  const council = [PRESENT, ABSENT].map((validator, index) => ({
    name: `v${index}`,
    validator,
    reward: validator,
    stake,
  }))
  const genesis = join(lonelyDir, 'genesis.json')
  writeFileSync(
    genesis,
    JSON.stringify({
      format: 'tandem/1',
      network: 'devnet',
      timestamp: 1_735_689_600,
      council,
      foundation: PRESENT,
      alloc: {},
      params: { blockTimeMs: 200 },
    }),
  )
  writeFileSync(join(lonelyDir, 'key'), KEY)
  lonely = spawnNode([
    ...['start', '--network', 'devnet', '--genesis', genesis, '--validator-key', join(lonelyDir, 'key')],
    ...['--datadir', join(lonelyDir, 'data'), '--port', '0', '--operator-port', '0'],
  ])
  lonelyReady = await lonely.ready
})
afterAll(async () => {
  await lonely.kill()
  rmSync(lonelyDir, { recursive: true, force: true })
})

test('metrics: what an operator watches is there, and parses', async () => {
  // A chain that is kept, for one in a temporary folder has no journal.
  const dataDir = join(lonelyDir, 'metrics')
  const node = spawnNode(['devnet', '--port', '0', '--metrics-port', '0', '--block-time', '0.1', '--datadir', dataDir])
  const ready = await node.ready
  const load = await loadOn(ready)
  const socket = await Socket.open(ready.ws)
  await socket.result('eth_subscribe', ['newHeads'])
  await eventuallyPositive(ready.metrics, [
    'chain_head_number',
    'chain_transactions_total',
    'chain_gas_used_total',
    'chain_block_interval_seconds_count',
    'consensus_committee_validators',
    'rpc_calls_total{method="eth_sendRawTransaction"}',
    'rpc_handler_seconds_total{method="eth_sendRawTransaction"}',
    'rpc_slow_call_seconds_count{method="eth_sendRawTransaction"}',
    'rpc_open_connections',
    'rpc_active_subscriptions',
    'txpool_submissions_total{origin="local",result="accepted"}',
    'txpool_journal_bytes_total',
    'state_reads_total{table="account",cache="hit"}',
    'storage_batch_writes_total',
    'process_resident_memory_bytes',
    'process_cpu_user_seconds',
    'process_event_loop_delay_seconds{quantile="0.99"}',
  ])
  await load.stop()
  const headNumber = async () => Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
  const before = await headNumber()
  const first = await scrape(ready.metrics)
  const after = await headNumber()
  const value = (name: string): number => first.get(name) ?? Number.NaN
  for (const name of [
    'chain_head_age_seconds',
    'txpool_pending_transactions',
    'txpool_queued_transactions',
    'consensus_round',
    'process_event_loop_busy_ratio',
  ])
    expect(value(name), name).toBeGreaterThanOrEqual(0)
  expect(value('rpc_open_connections')).toBe(1)
  expect(value('chain_head_number')).toBeGreaterThanOrEqual(before)
  expect(value('chain_head_number')).toBeLessThanOrEqual(after)

  // An error counts as one, and a method nobody knows makes no label.
  await expect(rpc(ready.http, 'eth_getBalance', [])).rejects.toThrow('missing value')
  await expect(rpc(ready.http, 'no_such_method', [])).rejects.toThrow('does not exist')
  const second = await scrape(ready.metrics)
  expect(second.get('rpc_errors_total{method="eth_getBalance"}')).toBe(1)
  expect([...second.keys()].filter(name => name.includes('no_such_method'))).toEqual([])
  expect(second.get('chain_head_number')).toBeGreaterThanOrEqual(value('chain_head_number'))
  const elsewhere = await fetch((ready.metrics ?? '').replace('/metrics', '/'))
  expect(elsewhere.status).toBe(404)
  socket.close()
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

describe('logs', () => {
  test('for machines: one object a line, and never a key', async () => {
    const node = spawnNode(['devnet', '--port', '0', '--block-time', '0.2', '--unlock', '--log-level', 'debug'])
    const ready = await node.ready
    const load = await loadOn(ready)
    const [from, to] = ready.accounts.map(({ address }) => address)
    await rpc(ready.http, 'eth_sign', [from, '0x1234'])
    await rpc(ready.http, 'eth_signTransaction', [
      { from, to, gas: '0x5208', gasPrice: '0x6fc23ac00', nonce: '0x0', value: '0x1' },
    ])
    // Keys where none belong: what comes in is not copied to the log either.
    const [key = '0x'] = ready.accounts.map(({ privateKey }) => privateKey)
    for (const method of ['personal_importRawKey', 'eth_sendRawTransaction', 'eth_call', key])
      await rpc(ready.http, method, [key, TEST_MNEMONIC]).catch(() => undefined)
    await eventually('some lines', async () => (node.stderr().split('\n').length > 10 ? true : undefined))
    await load.stop()
    expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })

    const lines = node.stderr().trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(5)
    for (const line of lines) {
      const entry = JSON.parse(line) as Record<string, unknown>
      expect(['error', 'warn', 'info', 'debug'], line).toContain(entry['level'])
      expect(new Date(String(entry['time'])).toISOString(), line).toBe(entry['time'])
      expect(entry['msg'], line).toEqual(expect.any(String))
      expect(entry['module'], line).toEqual(expect.any(String))
    }
    expect(node.stdout().trimEnd().split('\n'), 'nothing but the ready line').toHaveLength(1)
    const { accounts, validatorKey } = await accountsFromMnemonic(TEST_MNEMONIC, 10)
    for (const secret of [...accounts.map(({ privateKey }) => privateKey), bytesToHex(validatorKey)])
      expect(node.stderr().toLowerCase()).not.toContain(secret.slice(2))
    expect(node.stderr()).not.toContain('test test')
  })

  test('for people: a minute of empty blocks prints nothing, a block one line, and one for each of its transactions', async () => {
    const node = spawnNode(['devnet', '--port', '0', '--block-time', SLOW ? '1' : '0.05'], { json: false })
    const http = await eventually('the banner', async () => /HTTP +(\S+)/.exec(node.stdout())?.[1])
    await eventually('the end of the banner', async () => (node.stdout().includes('Ctrl-C') ? true : undefined))
    const banner = node.stdout()
    await eventually(
      'sixty blocks',
      async () => (Number(await rpc<Hex>(http, 'eth_blockNumber')) >= 60 ? true : undefined),
      { everyMs: 200 },
    )
    expect(node.stderr()).toBe('')
    expect(node.stdout()).toBe(banner)
    const { accounts } = await accountsFromMnemonic(TEST_MNEMONIC, 10)
    await deployToken({ http, chainId: 1998999, accounts: accounts.slice(0, 1) })
    const lines = await eventually('both lines', async () => {
      const seen = node.stderr().trimEnd().split('\n')
      return seen.length === 2 ? seen : undefined
    })
    expect(lines[0]).toMatch(/^\S+ .*INFO.* chain: block number=\d+ transactions=1 gasUsed=\d+ hash=0x[0-9a-f]{64}$/)
    expect(lines[1]).toMatch(
      /^\S+ .*INFO.* devnet: transaction hash=0x[0-9a-f]{64} from=0x[0-9a-f]{40} created=0x[0-9a-f]{40} gas=\d+$/,
    )
    expect(await node.end('SIGINT')).toMatchObject({ code: 0 })
    expect(node.stderr().trimEnd().split('\n')).toHaveLength(2)
  })
})

describe('signals', () => {
  test.each([
    ['SIGTERM', '0.2'],
    ['SIGINT', '0'],
    ['SIGHUP', '1'],
  ] as const)(
    '%s under load, block time %s s: it ends with status 0 and a sound database',
    async (signal, blockTime) => {
      await withTempDir(async dir => {
        const dataDir = join(dir, 'data')
        const node = spawnNode(['devnet', '--port', '0', '--datadir', dataDir, '--block-time', blockTime])
        const ready = await node.ready
        const load = await loadOn(ready)
        const sockets = await Promise.all(Array.from({ length: 50 }, () => Socket.open(ready.ws)))
        for (const socket of sockets) await socket.result('eth_subscribe', ['newPendingTransactions', true])
        // One that will not hear of the end, and a call that would last for seconds.
        sockets[0]?.raw.pause()
        const code = { [`0x${'aa'.repeat(20)}`]: { code: '0x5b600056' } }
        void rpc(ready.http, 'eth_call', [{ to: `0x${'aa'.repeat(20)}` }, 'latest', code]).catch(() => undefined)
        await sleep(500)
        const head = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
        const { code: status } = await node.end(signal)
        await load.stop()
        expect(status).toBe(0)
        expect(alarmsIn(node.stderr())).toEqual([])
        expect(await sockets[1]?.closed, 'clients are told').toBe(1001)
        for (const socket of sockets) socket.close()
        const verified = await tandem(['db', 'verify', '--datadir', dataDir, '--json'])
        expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] })
        expect((JSON.parse(verified.stdout) as { head: number }).head).toBeGreaterThanOrEqual(head)
        const again = spawnNode(['devnet', '--port', '0', '--datadir', dataDir, '--block-time', blockTime])
        await again.ready
        expect(again.stderr()).not.toContain('torn')
        expect(await again.end('SIGTERM')).toMatchObject({ code: 0 })
      })
    },
  )

  test('a second and a third one change nothing', async () => {
    await withTempDir(async dir => {
      const node = spawnNode(['devnet', '--port', '0', '--datadir', dir, '--block-time', '0.1'])
      const ready = await node.ready
      const load = await loadOn(ready)
      await sleep(300)
      node.child.kill('SIGINT')
      node.child.kill('SIGTERM')
      setTimeout(() => node.child.kill('SIGINT'), 20)
      expect(await node.end('SIGINT')).toMatchObject({ code: 0 })
      await load.stop()
      const { stdout } = await tandem(['db', 'verify', '--datadir', dir, '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ ok: true })
    })
  })

  test.each([30, 120, 250, 400])('one that comes %i ms after the start ends it cleanly', async delayMs => {
    await withTempDir(async dir => {
      const tmp = join(dir, 'tmp')
      mkdirSync(tmp)
      const kept = spawnNode(['devnet', '--port', '0', '--datadir', join(dir, 'data'), '--block-time', '0.1'])
      const temporary = spawnNode(['devnet', '--port', '0', '--block-time', '0.1'], { env: { TMPDIR: tmp } })
      await sleep(delayMs)
      for (const node of [kept, temporary]) {
        const { code } = await node.end('SIGTERM')
        // Before the program runs at all, the signal ends the process itself: null.
        expect([0, null]).toContain(code)
      }
      expect(readdirSync(tmp)).toEqual([])
      const again = spawnNode(['devnet', '--port', '0', '--datadir', join(dir, 'data'), '--block-time', '0.1'])
      await again.ready
      await again.kill()
    })
  })
})

describe('health', () => {
  test('200 while blocks come', async () => {
    const node = spawnNode(['devnet', '--port', '0', '--block-time', '0.2'])
    const ready = await node.ready
    const answer = await eventually('a block, in its first round', async () => {
      const health = await healthOf(ready)
      return Number(health[1]['number']) > 0 && health[1]['round'] === 0 ? health : undefined
    })
    expect(answer).toEqual([
      200,
      {
        healthy: true,
        number: expect.any(Number),
        hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        syncing: false,
        mode: 'voting',
        round: 0,
        peers: 0,
      },
    ])
    expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
  })

  test('503 at once where other validators are needed and none is connected', async () => {
    expect(await healthOf(lonelyReady)).toEqual([
      503,
      expect.objectContaining({
        healthy: false,
        reason: expect.stringMatching(/^no peer is connected/),
        number: 0,
        target: null,
        mode: 'voting',
      }),
    ])
    // The others of its faces work on.
    expect(await rpc(lonelyReady.http, 'eth_blockNumber')).toBe('0x0')
    await eventually('its log says what it waits for', async () =>
      /no decision yet|no quorum reachable/.test(lonely.stderr()) ? true : undefined,
    )
  })
})
