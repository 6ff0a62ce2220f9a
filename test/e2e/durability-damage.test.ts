import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BUCKETS } from '../../src/storage/buckets.ts'
import { metaKey, SCHEMA_VERSION } from '../../src/storage/schema.ts'
import { Store } from '../../src/storage/store.ts'
import { tandem } from '../support/command.ts'
import { rpc, withTempDir } from '../support/devnet.ts'
import { deployToken, type Signed, signerOf, startLoad } from '../support/load.ts'
import { eventually, freePort, type NodeProcess, type Ready, sleep, spawnNode } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'
import { Witness } from '../support/witness.ts'

const API = ['--http-api', 'eth,net,rpc,native,txpool']
const BLOCK_TIME = ['--block-time', '0.05']
/** Blocks under load of the chain that is damaged. */
const HISTORY_BLOCKS = 15
const devnet = (dataDir: string, options: readonly string[] = BLOCK_TIME, port = 0): NodeProcess =>
  spawnNode(['devnet', '--port', String(port), '--datadir', dataDir, ...options, ...API])

const headOf = async ({ http }: { http: string }): Promise<number> => Number(await rpc<Hex>(http, 'eth_blockNumber'))
const blockAt = (node: Ready, number: number) =>
  rpc<{ hash: Hex; stateRoot: Hex } | null>(node.http, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])

const grows = (node: Ready, from: number): Promise<true> =>
  eventually(`a block after ${from}`, async () => ((await headOf(node)) > from ? true : undefined))

const isConsistent = async (dataDir: string): Promise<void> => {
  const { stdout } = await tandem(['db', 'verify', '--datadir', dataDir, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] })
}

/** Runs to its end and answers what it wrote, for folders that must be refused. */
const refused = async (dataDir: string): Promise<string> => {
  const { code, stderr, stdout } = await tandem(['devnet', '--port', '0', '--datadir', dataDir, ...BLOCK_TIME])
  expect(stdout, 'no ready line').toBe('')
  expect(code).toBe(1)
  expect(stderr.trimEnd(), 'one line, no stack').not.toContain('\n')
  return stderr
}

let home: string
let leave: () => void
let head: { readonly number: number; readonly hash: Hex }

/** One killed chain with some history; each test damages a copy. */
const copyTo = (dir: string): string => {
  const dataDir = join(dir, 'data')
  cpSync(home, dataDir, { recursive: true })
  return dataDir
}

beforeAll(async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  leave = resolve
  const prepared = Promise.withResolvers<void>()
  void withTempDir(async dir => {
    home = join(dir, 'home')
    const node = devnet(home)
    const ready = await node.ready
    const token = await deployToken(ready)
    const load = startLoad({
      node: ready,
      token,
      random: createRandom(SEED).next,
      pauseMs: 10,
      onAcknowledged() {},
      onRefused() {},
    })
    await grows(ready, (await headOf(ready)) + HISTORY_BLOCKS)
    const number = await headOf(ready)
    head = { number, hash: (await blockAt(ready, number))?.hash ?? '0x' }
    await node.kill()
    await load.stop()
    prepared.resolve()
    await promise
  }).catch(prepared.reject)
  await prepared.promise
})
afterAll(() => leave())

const keepsItsChain = async (dataDir: string): Promise<void> => {
  const node = devnet(dataDir)
  const ready = await node.ready
  expect((await blockAt(ready, head.number))?.hash, 'what was seen is still there').toBe(head.hash)
  await grows(ready, await headOf(ready))
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
  await isConsistent(dataDir)
}

const walOf = (dataDir: string): string => join(dataDir, 'consensus', 'wal')
const usedBytesOf = (file: string): number => readFileSync(file).findLastIndex(byte => byte !== 0) + 1
const levelFiles = (dataDir: string, ending: string): string[] =>
  readdirSync(join(dataDir, 'db'))
    .filter(name => name.endsWith(ending))
    .sort()
    .map(name => join(dataDir, 'db', name))

describe('what a crash leaves behind', () => {
  test.each([3, 400])('a consensus log that lacks its last %i bytes starts cleanly', async bytes => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      truncateSync(walOf(dataDir), usedBytesOf(walOf(dataDir)) - bytes)
      await keepsItsChain(dataDir)
    })
  })

  test('a consensus log whose tail is zeros starts cleanly', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      const content = readFileSync(walOf(dataDir))
      content.fill(0, usedBytesOf(walOf(dataDir)) - 100)
      writeFileSync(walOf(dataDir), content)
      await keepsItsChain(dataDir)
    })
  })

  test('blocks that the database lost come back from the consensus log', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      const [log] = levelFiles(dataDir, '.log').slice(-1)
      if (log === undefined) throw new Error('a LevelDB has a log')
      truncateSync(log, Math.floor(statSync(log).size * 0.8))
      await keepsItsChain(dataDir)
    })
  })

  test('a torn transaction journal keeps every whole transaction before the tear', async () => {
    await withTempDir(async dir => {
      const dataDir = join(dir, 'data')
      // Long blocks: what is sent now waits in the pool.
      const slow = ['--block-time', '60']
      const first = devnet(dataDir, slow)
      const ready = await first.ready
      const sent = await sendTransfers(ready, 20)
      await first.kill()
      const journal = join(dataDir, 'transactions.journal')
      truncateSync(journal, statSync(journal).size - 5)
      const second = devnet(dataDir, slow)
      const again = await second.ready
      const found = await Promise.all(sent.map(({ hash }) => rpc(again.http, 'eth_getTransactionByHash', [hash])))
      expect(found.map(transaction => transaction !== null)).toEqual(sent.map((_, index) => index < 19))
      expect(second.stderr()).toContain('torn tail')
      await second.kill()
    })
  })
})

/** Results of one batch of calls, in their order. */
const batch = async <T>(
  { http }: Ready,
  calls: readonly (readonly [string, ...unknown[]])[],
): Promise<readonly T[]> => {
  const response = await fetch(http, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(([method, ...params], id) => ({ id, method, params }))),
  })
  return ((await response.json()) as { readonly result: T }[]).map(({ result }) => result)
}

const lookUp = (ready: Ready, transactions: readonly Signed[]): Promise<readonly unknown[]> =>
  batch(
    ready,
    transactions.map(({ hash }) => ['eth_getTransactionByHash', hash]),
  )

const sendTransfers = async (ready: Ready, count: number, lane = 0): Promise<readonly Signed[]> => {
  const account = ready.accounts[lane]
  if (account === undefined) throw new Error('devnets have accounts')
  const signed = signerOf(account.privateKey, ready.chainId)
  const from = Number(await rpc<Hex>(ready.http, 'eth_getTransactionCount', [account.address, 'pending']))
  const transactions = Array.from({ length: count }, (_, index) => signed({ nonce: from + index }))
  const answers = await batch<Hex>(
    ready,
    transactions.map(({ raw }) => ['eth_sendRawTransaction', raw]),
  )
  expect(answers).toEqual(transactions.map(({ hash }) => hash))
  return transactions
}

describe('a client that does not wait for the ready line', () => {
  test('cannot make a starting node forget what it acknowledged before', async () => {
    await withTempDir(async dir => {
      const dataDir = join(dir, 'data')
      const slow = ['--block-time', '60']
      const port = await freePort()
      const first = devnet(dataDir, slow, port)
      const ready = await first.ready
      const kept: Signed[] = []
      // More than is taken back in one piece.
      for (let lane = 0; lane < ready.accounts.length; lane++) kept.push(...(await sendTransfers(ready, 300, lane)))
      await first.kill()

      const second = devnet(dataDir, slow, port)
      const account = ready.accounts[9]
      if (account === undefined) throw new Error('devnets have ten accounts')
      const early = signerOf(account.privateKey, ready.chainId)({ nonce: 300 })
      await eventually(
        'the early transaction is acknowledged',
        async () => {
          try {
            return await rpc(ready.http, 'eth_sendRawTransaction', [early.raw])
          } catch (error) {
            if (error instanceof TypeError) return undefined
            throw error
          }
        },
        { everyMs: 1 },
      )
      await second.kill()

      const third = devnet(dataDir, slow, port)
      await third.ready
      const all = [...kept, early]
      const found = (
        await Promise.all(Array.from({ length: 11 }, (_, at) => lookUp(ready, all.slice(at * 300, at * 300 + 300))))
      ).flat()
      expect(found).toHaveLength(3_001)
      expect(found.filter(transaction => !transaction)).toEqual([])
      await third.kill()
    })
  })
})

describe('what no crash leaves behind is refused in one clear line', () => {
  test('a database of another schema version', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      const store = await Store.open(join(dataDir, 'db'))
      const row = await store.get(BUCKETS.meta, metaKey('schema'))
      const batch = store.batch()
      batch.put(
        BUCKETS.meta,
        metaKey('schema'),
        Buffer.concat([Uint8Array.of(SCHEMA_VERSION + 1), row?.subarray(1) ?? Buffer.alloc(0)]),
      )
      await batch.write()
      await store.close()
      const text = await refused(dataDir)
      expect(text).toContain(
        `was written with database schema ${SCHEMA_VERSION + 1}, this program knows schema ${SCHEMA_VERSION}`,
      )
    })
  })

  test('a chain made with other options', async () => {
    await withTempDir(async dir => {
      const { code, stderr } = await tandem(['devnet', '--port', '0', '--datadir', copyTo(dir), '--chain-id', '77'])
      expect(code).toBe(1)
      expect(stderr).toMatch(/holds a chain with genesis 0x[0-9a-f]{64}, the options given make genesis 0x/)
    })
  })

  test.each(['MANIFEST', 'CURRENT'])('a truncated %s of the database', async name => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      const file = readdirSync(join(dataDir, 'db')).find(entry => entry.startsWith(name))
      if (file === undefined) throw new Error(`a LevelDB has a ${name}`)
      const path = join(dataDir, 'db', file)
      truncateSync(path, Math.floor(statSync(path).size / 3))
      expect(await refused(dataDir)).toMatch(/^tandem: The database in .* (is damaged|cannot be opened): /)
    })
  })

  test('a truncated table of the database', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      await compact(dataDir)
      const table = levelFiles(dataDir, '.ldb').at(-1)
      if (table === undefined) throw new Error('a compacted LevelDB has tables')
      truncateSync(table, Math.floor(statSync(table).size / 2))
      expect(await refused(dataDir)).toMatch(/^tandem: .*is damaged.*start with an empty --datadir/)
    })
  })

  test('a folder that is in use', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      const node = devnet(dataDir)
      await node.ready
      expect(await refused(dataDir)).toContain(
        `is in use by process ${node.child.pid}. Stop that node, or choose another --datadir.`,
      )
      await node.kill()
    })
  })
})

/** Moves everything from LevelDB's log into tables, as opening does with a small write buffer. */
const compact = async (dataDir: string): Promise<void> => {
  const { ClassicLevel } = await import('classic-level')
  const level = new ClassicLevel(join(dataDir, 'db'), { keyEncoding: 'view', valueEncoding: 'view' })
  await level.open()
  await level.compactRange(Uint8Array.of(0), Uint8Array.of(255), { keyEncoding: 'view' })
  await level.close()
}

describe('a lost consensus log', () => {
  const forget = (dataDir: string): void => rmSync(walOf(dataDir))

  test('of a development chain: its only validator warns and goes on', async () => {
    await withTempDir(async dir => {
      const dataDir = copyTo(dir)
      forget(dataDir)
      const node = devnet(dataDir)
      const ready = await node.ready
      const before = await headOf(ready)
      expect((await blockAt(ready, head.number))?.hash).toBe(head.hash)
      await grows(ready, before + 2)
      expect(node.stderr()).toMatch(/"level":"warn".*"LOG_MISSING".*voting without the consensus log/)
      expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
      await isConsistent(dataDir)
    })
  })

  test('of a network: the validator only follows and says why, until the operator vouches for it', async () => {
    await withTempDir(async dir => {
      const { genesis, key } = writeNetwork(dir)
      const dataDir = join(dir, 'data')
      const start = (...options: string[]): NodeProcess =>
        spawnNode([
          ...['start', '--network', 'devnet', '--genesis', genesis, '--validator-key', key, '--datadir', dataDir],
          ...['--port', '0', '--operator-port', '0', ...options],
        ])
      const first = start()
      await grows(await first.ready, 1)
      await first.kill()

      forget(dataDir)
      const second = start()
      const ready = await second.ready
      const before = await headOf(ready)
      await eventually('the reason', async () =>
        /"level":"error".*"LOG_MISSING".*--trust-missing-log/.test(second.stderr()) ? true : undefined,
      )
      // As long as several blocks take.
      await sleep(1_000)
      expect(await headOf(ready), 'nothing is decided').toBe(before)
      await second.kill()

      const third = start('--trust-missing-log')
      await grows(await third.ready, before)
      await third.kill()

      const fourth = start()
      await grows(await fourth.ready, before + 1)
      await fourth.kill()
    })
  })
})

const VALIDATOR_KEY = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318'
const VALIDATOR = '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'

const writeNetwork = (dir: string): { genesis: string; key: string } => {
  const genesis = join(dir, 'genesis.json')
  const key = join(dir, 'key')
  writeFileSync(key, VALIDATOR_KEY)
  writeFileSync(
    genesis,
    JSON.stringify({
      format: 'tandem/1',
      network: 'devnet',
      timestamp: 1_735_689_600,
      council: [{ name: 'alone', validator: VALIDATOR, reward: VALIDATOR, stake: (35n * 10n ** 18n).toString() }],
      foundation: VALIDATOR,
      alloc: { [VALIDATOR]: { balance: (10n ** 24n).toString() } },
      params: { blockTimeMs: 100 },
    }),
  )
  return { genesis, key }
}

describe('a full disk', () => {
  test('stops the node with the reason, and nothing acknowledged or seen is lost', async () => {
    await withTempDir(async dir => {
      const dataDir = join(dir, 'data')
      // The limit of a file's size stands in for the disk's: writes beyond it fail likewise.
      const node = spawnNode(['devnet', '--port', '0', '--datadir', dataDir, ...BLOCK_TIME, ...API], {
        fileKilobytes: 300,
      })
      const ready = await node.ready
      const witness = new Witness()
      const watching = witness.watch(ready.http, () => false)
      const token = await deployToken(ready)
      const load = startLoad({
        node: ready,
        token,
        random: createRandom(SEED).next,
        pauseMs: 10,
        onSent: tx => witness.sent(tx),
        onAcknowledged: tx => witness.acknowledge(tx),
        onRefused() {},
      })
      expect(await node.exited).toBe(1)
      await Promise.all([load.stop(), watching])
      expect(node.stderr()).toMatch(/tandem: Writing to .* failed: .*Free disk space.*nothing \w+ is lost/)
      await isConsistent(dataDir)

      const again = devnet(dataDir)
      const { http } = await again.ready
      expect(await witness.contradictions(http)).toEqual([])
      expect(witness.acknowledged).toBeGreaterThan(0)
      await again.kill()
    })
  })
})
