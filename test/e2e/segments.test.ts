import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { Indexer } from '@tandem/explorer/indexer/indexer.ts'
import { openSource } from '@tandem/explorer/service/open-source.ts'
import { SqliteIndex } from '@tandem/explorer/store/sqlite/sqlite-index.ts'
import { expect, onTestFinished, test } from 'vitest'
import { verifyChain } from '../../src/chain/verify-chain.ts'
import { moveSegment, readMoved } from '../../src/storage/move-segment.ts'
import { segmentPath } from '../../src/storage/segments.ts'
import { Store } from '../../src/storage/store.ts'
import { ACCOUNT_KEYS, devGenesis, openTestChain, signedRaw } from '../support/chain.ts'
import { tandem } from '../support/command.ts'
import { rpc, withTempDir } from '../support/devnet.ts'
import { localRules } from '../support/explorer/source/local-rules.ts'

const PROGRAM = fileURLToPath(new URL('../support/disk/segment-node.ts', import.meta.url))
const SEGMENT = 8

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
  const index = new SqliteIndex({ path })
  const { source, calls } = openSource(`${url.replace('http', 'ws')}/ws`, localRules(devGenesis()), silentLogger)
  const sizes = { batchBlocks: 3, backfillBlocks: 10_000, keepsForeign: true }
  const indexer = new Indexer({ source, calls, index, logger: silentLogger, nowMs: () => 0, ...sizes })
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
