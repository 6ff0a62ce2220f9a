import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryLogs } from '../../src/chain/logs/log-query.ts'
import { LogService } from '../../src/chain/logs/log-service.ts'
import { EVERY_LOG, packCriteria } from '../../src/chain/store/log-criteria.ts'
import type { LogEntry, LogQuery } from '../../src/chain/store/types.ts'
import { logsJson } from '../../src/rpc/encode/log.ts'
import { ACCOUNT_KEYS, signedRaw, type TestChain, withChain } from '../support/chain.ts'
import { isWanted, type WantedLogs } from '../support/plain-logs.ts'
import { SEED } from '../support/seed.ts'

const WORKER = new URL('../../src/rpc/encode/log-worker.ts', import.meta.url)

const BLOCKS = 24
const OTHERS = 300
const others = Array.from({ length: OTHERS }, (_, i): Hex => `0x${(i + 1).toString(16).padStart(40, '0')}`)
const TOPICS = [1n, 2n, 3n].map(toWord)

/** Init code that logs the given topics and creates an empty account: its address is new each time. */
const logging = (topics: readonly Hex[]): Uint8Array => {
  const pushes = [...topics].reverse().map(topic => `7f${topic.slice(2)}`)
  return hexToBytes(`0x${pushes.join('')}60006000a${topics.length}00`)
}

/** Some blocks without logs, some with a few; the sender is the test's random source's choice. */
const grow = async (chain: TestChain, plan: readonly (readonly (readonly number[])[])[]): Promise<void> => {
  const key = ACCOUNT_KEYS[0] as Uint8Array
  let nonce = 0
  for (const block of plan) {
    for (const topics of block) {
      const data = logging(topics.map(index => TOPICS[index] as Hex))
      await chain.pool.service.submit(signedRaw(key, { nonce: nonce++, to: null, gasLimit: 300_000n, data }))
    }
    await chain.mine()
  }
}

const plan = fc.array(fc.array(fc.array(fc.nat(2), { maxLength: 3 }), { maxLength: 2 }), {
  minLength: BLOCKS,
  maxLength: BLOCKS,
})

type Wanted = WantedLogs & Pick<LogQuery, 'fromBlock' | 'toBlock'>

const scan = async (chain: TestChain, query: Wanted): Promise<readonly LogEntry[]> => {
  const found: LogEntry[] = []
  for (let number = query.fromBlock; number <= Math.min(query.toBlock, BLOCKS); number++) {
    const [block, receipts] = await Promise.all([chain.blocks.block(number), chain.blocks.receipts(number)])
    if (!block || !receipts) continue
    let logIndex = 0
    for (const [transactionIndex, { logs }] of receipts.entries()) {
      const transactionHash = block.transactions[transactionIndex]?.hash as Hex
      for (const log of logs) {
        const at = { blockNumber: number, blockTimestamp: block.header.timestamp, blockHash: block.hash }
        const place = { ...at, transactionHash, transactionIndex }
        if (isWanted(query, log)) found.push({ ...log, ...place, logIndex })
        logIndex++
      }
    }
  }
  return found
}

test('queries answer what a scan of all receipts answers, here and in the worker', () =>
  withChain(
    async chain => {
      await grow(chain, fc.sample(plan, { seed: SEED, numRuns: 1 })[0] as number[][][])
      const all = await scan(chain, { fromBlock: 0, toBlock: BLOCKS, addresses: [], topics: [] })
      expect(all.length).toBeGreaterThan(5)
      const address = fc.oneof(
        fc.constantFrom(...all.map(log => log.address)),
        fc.constant<Hex>(`0x${'77'.repeat(20)}`),
      )
      const alternatives = fc.option(fc.array(fc.constantFrom(...TOPICS), { maxLength: 2 }))
      const query = fc.record({
        fromBlock: fc.nat(BLOCKS + 2),
        toBlock: fc.nat(BLOCKS + 2),
        // With others that never logged there are more than one read takes.
        addresses: fc
          .tuple(fc.array(address, { maxLength: 3 }), fc.constantFrom(0, OTHERS))
          .map(([some, more]) => [...some, ...others.slice(0, some.length === 0 ? 0 : more)]),
        topics: fc.array(alternatives, { maxLength: 4 }),
      })
      const worker = new LogService({ store: chain.store, workerUrl: WORKER })
      const limits = { results: 10_000, timeoutMs: 60_000, nowMs: () => 0 }
      await fc.assert(
        fc.asyncProperty(query, async wanted => {
          const expected = await scan(chain, wanted)
          const packed = { fromBlock: wanted.fromBlock, toBlock: wanted.toBlock, ...packCriteria(wanted) }
          expect(await queryLogs(chain.store, chain.blocks, packed, limits)).toEqual(expected)
          expect(plain(await worker.query(packed))).toEqual(plain(expected))
          expect(Buffer.concat(await worker.text(packed)).toString()).toBe(logsJson(expected))
        }),
        { seed: SEED, numRuns: 150 },
      )
      await worker.close()
    },
    { mode: 'wasm' },
  ))

test('too many results and too much time are refused', () =>
  withChain(
    async chain => {
      await grow(chain, [[[0], [0]], [[0]]])
      const query: LogQuery = { fromBlock: 0, toBlock: 9, ...EVERY_LOG }
      const limits = { results: 2, timeoutMs: 1_000, nowMs: () => 0 }
      await expect(queryLogs(chain.store, chain.blocks, query, limits)).rejects.toMatchObject({
        detail: { code: 'TOO_MANY_RESULTS', limit: 2, fits: { fromBlock: 0, toBlock: 1 } },
      })
      const tooMany = { code: 'TOO_MANY_RESULTS', limit: 1 }
      await expect(
        queryLogs(chain.store, chain.blocks, { ...query, fromBlock: 1 }, { ...limits, results: 1 }),
      ).rejects.toMatchObject({ detail: tooMany })
      await expect(
        queryLogs(chain.store, chain.blocks, query, { ...limits, results: 10, bytes: -1 }),
      ).rejects.toMatchObject({ detail: { code: 'RESULTS_TOO_LARGE', limitBytes: -1 } })
      let now = 0
      const slow = { results: 10, timeoutMs: 1_000, nowMs: () => (now += 900) }
      await expect(queryLogs(chain.store, chain.blocks, query, slow)).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
    },
    { mode: 'wasm' },
  ))

/** Entries as plain arrays: those that crossed a thread hold Uint8Arrays, those from the store Buffers, and vitest tells them apart. */
const plain = (entries: readonly LogEntry[]) => entries.map(entry => ({ ...entry, data: [...entry.data] }))
