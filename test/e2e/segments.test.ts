import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { NodeClient } from '@tandem/explorer/chain/node-client.ts'
import { nodeCall } from '@tandem/explorer/chain/node-port.ts'
import { RpcChain } from '@tandem/explorer/chain/rpc-chain.ts'
import { Indexer } from '@tandem/explorer/indexer/indexer.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { expect, onTestFinished, test } from 'vitest'
import { verifyChain } from '../../src/chain/verify-chain.ts'
import { sign } from '../../src/crypto/signature.ts'
import { certificateFromSigners } from '../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest } from '../../src/primitives/consensus/vote.ts'
import { SEGMENT_BUCKETS } from '../../src/storage/buckets.ts'
import { moveSegment, readMoved } from '../../src/storage/move-segment.ts'
import { segmentPath } from '../../src/storage/segments.ts'
import { Store, type StoreEntry } from '../../src/storage/store.ts'
import { ACCOUNT_KEYS, CHAIN_ID, devGenesis, openTestChain, signedRaw, VALIDATOR_KEY } from '../support/chain.ts'
import { tandem } from '../support/command.ts'
import { rpc, withTempDir } from '../support/devnet.ts'
import { localRules } from '../support/explorer/source/local-rules.ts'
import { sleep } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'

const PROGRAM = fileURLToPath(new URL('./segment-node.ts', import.meta.url))
const SEGMENT = 8
/** `KILLS=50 npx vitest run --project unit --project e2e segments`: the long form. */
const KILLS = Number(process.env['KILLS'] ?? 3)
/** What a node moves until its kill; with all moved, it moves those that it makes. */
const BLOCKS_OF_A_KILL = 80
const LATEST_KILL_MS = 250

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly ask: <T>(method: string, ...params: readonly unknown[]) => Promise<T>
}

const start = async (dataDir: string, history?: number): Promise<Running> => {
  const args = [PROGRAM, dataDir, ...(history === undefined ? [] : [String(history)])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, url, ask: (method, ...params) => rpc(url, method, params) }
}

const end = async ({ child }: Running, signal: NodeJS.Signals): Promise<void> => {
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}

const hasLogWorker = ({ child: { pid } }: Running): boolean =>
  readdirSync(`/proc/${pid}/task`).some(id => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8') === 'logs\n')

const verified = async (dataDir: string) => {
  const store = await Store.open(join(dataDir, 'db'), { segmentBlocks: SEGMENT })
  const report = await verifyChain(store, { from: 0 })
  const moved = readMoved(store)
  await store.close()
  expect(report.problems).toEqual([])
  return { ...moved, blocks: report.blocks, head: report.head }
}

/** Runs a first step of an indexer over a node; returns the index's position, or the refusal. */
const indexed = async ({ url }: Running, path: string): Promise<unknown> => {
  const index = new SqlIndex(new SqliteDatabase({ path }))
  const node = new NodeClient({ url: `${url.replace('http', 'ws')}/ws`, logger: silentLogger })
  const [source, call] = [new RpcChain(node, localRules(devGenesis())), nodeCall(node)]
  const sizes = { batchBlocks: 3, backfillBlocks: 10_000, keepsForeign: true }
  const indexer = new Indexer({ source, call, index, logger: silentLogger, nowMs: () => 0, ...sizes })
  try {
    await indexer.step()
    return (await index.position())?.number
  } catch (error) {
    return (error as { readonly detail?: unknown }).detail
  } finally {
    await source.close()
    await index.close()
  }
}

const patient = { interval: 200 }

test(
  'blocks move to segments and are dropped while a node serves them, also when it is killed',
  { timeout: 240_000 },
  () =>
    withTempDir(async dataDir => {
      let node = await start(dataDir)
      // LOG1 with the topic 7 and no data.
      const data = Buffer.from('600760006000a100', 'hex')
      const raw = signedRaw(ACCOUNT_KEYS[0] as Uint8Array, {
        nonce: 0,
        to: null,
        gasLimit: 100_000n,
        data: new Uint8Array(data),
      })
      const hash = await node.ask<Hex>('eth_sendRawTransaction', bytesToHex(raw))
      const receiptOf = () => node.ask<{ blockNumber: Hex } | null>('eth_getTransactionReceipt', hash)
      await expect.poll(receiptOf, patient).toBeTruthy()
      const number = (await receiptOf())?.blockNumber as Hex
      const reads = [
        ['eth_getBlockByNumber', number, true],
        ['eth_getTransactionByHash', hash],
        ['eth_getTransactionReceipt', hash],
        ['eth_getBlockReceipts', number],
        ['eth_getLogs', { fromBlock: '0x1', toBlock: number }],
        ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
        ['debug_traceBlockByNumber', number],
      ] as const
      const told = () => Promise.all(reads.map(([method, ...params]) => node.ask(method, ...params)))
      const before = await told()
      expect(before[4]).toHaveLength(1)
      const file = join(dataDir, 'db', 'segments', `${Math.floor(Number(number) / SEGMENT) * SEGMENT}.seg`)
      await expect.poll(() => existsSync(file), patient).toBe(true)
      const [begun, fresh] = ['begun', 'fresh'].map(name => join(dataDir, `${name}.sqlite`)) as [string, string]
      expect(await indexed(node, begun)).toBe(2)
      expect(await told()).toEqual(before)
      await end(node, 'SIGKILL')
      expect((await verified(dataDir)).moved).toBeGreaterThan(Number(number))
      node = await start(dataDir)
      expect(await told()).toEqual(before)
      await end(node, 'SIGTERM')
      expect(await verified(dataDir)).toMatchObject({ dropped: 0 })

      node = await start(dataDir, 120)
      const pruned = /pruned history unavailable: this node has no blocks between genesis and \d+/
      await expect.poll(() => node.ask('eth_getBlockByNumber', number, false).catch(String), patient).toMatch(pruned)
      await expect.poll(() => existsSync(file), patient).toBe(false)
      for (const [method, ...params] of reads) await expect(node.ask(method, ...params), method).rejects.toThrow(pruned)
      expect(await node.ask('eth_getBlockByNumber', '0x0', true)).toMatchObject({ number: '0x0' })
      await end(node, 'SIGKILL')
      const { dropped, blocks, head } = await verified(dataDir)
      expect(dropped).toBeGreaterThan(Number(number))
      expect(blocks).toBeLessThan(head)
      for (const name of readdirSync(join(dataDir, 'db', 'segments')))
        if (name !== 'next') expect(Number.parseInt(name, 10)).toBeGreaterThanOrEqual(dropped - SEGMENT)
      node = await start(dataDir, 120)
      await expect(node.ask('eth_getTransactionReceipt', hash)).rejects.toThrow(pruned)
      // An index has sums of all blocks: it goes on where a node has them.
      for (const [path, missing] of [
        [begun, 2],
        [fresh, 1],
      ] as const)
        expect(await indexed(node, path)).toEqual({
          code: 'BLOCKS_MISSING',
          number: missing,
          reason: expect.stringMatching(pruned),
          fix: expect.stringContaining('--history full'),
        })
      await end(node, 'SIGTERM')
    }),
)

/** Makes blocks of the node's chain, each third with a transfer; returns all rows that move, by table and key. */
const makeBlocks = async (dataDir: string, count: number): Promise<ReadonlyMap<number, readonly StoreEntry[]>> => {
  const chain = await openTestChain(dataDir, { mode: 'wasm', segmentBlocks: SEGMENT })
  for (let made = 0; made < count; made++) {
    if (made % 3 === 0)
      await chain.pool.service.submit(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: made / 3, value: 1n }))
    const block = await chain.build()
    const vote = { type: 'commit', number: block.header.number, round: 0, blockHash: block.hash } as const
    const seal = sign(blockVoteDigest({ chainId: CHAIN_ID, genesisHash: chain.genesisHash }, vote), VALIDATOR_KEY)
    await chain.chain.commit(block, certificateFromSigners(0, 1, new Map([[0, seal]])))
  }
  const rows = new Map<number, readonly StoreEntry[]>()
  for (const bucket of SEGMENT_BUCKETS) {
    const entries: StoreEntry[] = []
    for await (const entry of chain.store.entries(bucket)) entries.push(entry)
    rows.set(bucket, entries)
  }
  await chain.close()
  return rows
}

const expectRows = async (dataDir: string, rows: ReadonlyMap<number, readonly StoreEntry[]>): Promise<void> => {
  const store = await Store.open(join(dataDir, 'db'), { segmentBlocks: SEGMENT })
  for (const [bucket, entries] of rows)
    for (const [key, value] of entries) {
      const found = await store.get(bucket, key)
      if (found === undefined || Buffer.compare(found, value) !== 0)
        expect.fail(`row ${Buffer.from(key).toString('hex')} of table ${bucket} is another`)
    }
  await store.close()
}

test('a chain with segments has its log worker soon after the start, other chains when it is needed', () =>
  withTempDir(async dataDir => {
    // Too few for the log index, also with those of two seconds.
    await makeBlocks(dataDir, 3 * SEGMENT)
    const first = await start(dataDir)
    await sleep(2_000)
    expect(hasLogWorker(first)).toBe(false)
    await end(first, 'SIGTERM')
    expect((await verified(dataDir)).moved).toBeGreaterThan(0)
    const second = await start(dataDir)
    expect(hasLogWorker(second)).toBe(false)
    await expect.poll(() => hasLogWorker(second), { interval: 100, timeout: 5_000 }).toBe(true)
    await end(second, 'SIGTERM')
  }))

test(`${KILLS} kills of a node that moves blocks lose none, seed ${SEED}`, { timeout: 60_000 + KILLS * 30_000 }, () =>
  withTempDir(async dataDir => {
    const random = createRandom(SEED)
    const rows = await makeBlocks(dataDir, KILLS * BLOCKS_OF_A_KILL)
    const folder = join(dataDir, 'db', 'segments')
    const files = () => (existsSync(folder) ? readdirSync(folder).join() : '')
    let last = await verified(dataDir)
    let midway = 0
    for (let kill = 1; kill <= KILLS || midway === 0; kill++) {
      const node = await start(dataDir)
      const before = files()
      await expect.poll(files, { interval: 1, timeout: 60_000 }).not.toBe(before)
      await sleep(random.below(LATEST_KILL_MS))
      await end(node, 'SIGKILL')
      if (existsSync(join(folder, 'next'))) midway++
      const found = await verified(dataDir)
      if (found.moved > found.cleared) midway++
      expect(found.head).toBeGreaterThanOrEqual(last.head)
      expect(found.moved).toBeGreaterThanOrEqual(last.moved)
      await expectRows(dataDir, rows)
      last = found
    }
    process.stdout.write(`${JSON.stringify({ kills: KILLS, midway, ...last })}\n`)
  }),
)

test('db verify names a segment that is damaged, missing or of other blocks, and fails', () =>
  withTempDir(async dataDir => {
    const chain = await openTestChain(dataDir)
    for (let number = 1; number <= 3; number++) await chain.mine()
    for (let moved = 0; moved < 2; moved++) await moveSegment(chain.store)
    const [path, next] = [0, chain.store.segmentBlocks].map(first => segmentPath(chain.store.segmentFolder, first)) as [
      string,
      string,
    ]
    await chain.close()
    const verify = () => tandem(['db', 'verify', '--datadir', dataDir])
    const whole = await verify()
    expect(whole, whole.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^consistent: head 3 /) })
    const bytes = readFileSync(path)
    const flip = (at: number) => () => {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ 16
      writeFileSync(path, changed)
    }
    const faults: readonly (readonly [reason: string, damage: () => void])[] = [
      ['the checksum of the frame at byte 48 is wrong', flip(60)],
      ['the checksum of its index is wrong', flip(bytes.byteLength - 20)],
      ['it was cut short', () => truncateSync(path, bytes.byteLength - 1)],
      ['the file is missing', () => rmSync(path)],
      ['it is the segment of block 8192 of the chain', () => writeFileSync(path, readFileSync(next))],
    ]
    for (const [reason, damage] of faults) {
      damage()
      const { code, stdout, stderr } = await verify()
      expect({ code, stdout }, reason).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`${path} is damaged: `)
      expect(stderr).toContain(reason)
      expect(stderr).toContain('Restore the folder from a copy')
      writeFileSync(path, bytes)
    }
    expect((await verify()).code).toBe(0)
  }))
