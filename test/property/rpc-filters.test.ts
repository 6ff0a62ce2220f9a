import type { Hex } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { packCriteria } from '../../src/chain/store/log-criteria.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import { isWanted } from '../support/plain-logs.ts'
import { filtersOn, hubOn } from '../support/rpc/hub.ts'
import { MemoryChain, signedTransaction } from '../support/rpc/memory-chain.ts'
import { MemoryPool } from '../support/rpc/services.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)
const addresses = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}` as Hex)
const topics = ['1', '2', '3'].map(digit => `0x${digit.repeat(64)}` as Hex)
const TRANSACTION = signedTransaction({ nonce: 0 })

const log: fc.Arbitrary<Log> = fc.record({
  address: fc.constantFrom(...addresses),
  topics: fc.array(fc.constantFrom(...topics), { maxLength: 4 }),
  data: fc.constant(new Uint8Array(0)),
})
const criteria = fc.record({
  addresses: fc.subarray(addresses),
  topics: fc.array(fc.oneof(fc.constant(null), fc.subarray(topics)), { maxLength: 3 }),
})
type Step = { readonly type: 'block'; readonly logs: readonly Log[] } | { readonly type: 'poll' }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('block' as const), logs: fc.array(log, { maxLength: 4 }) }),
  fc.record({ type: fc.constant('poll' as const) }),
)

test('polls and subscriptions tell each new log and block once, in order, whenever they come', async () => {
  await fc.assert(
    fc.asyncProperty(criteria, fc.array(step, { maxLength: 25 }), async (wanted, steps) => {
      const chain = new MemoryChain()
      const filters = filtersOn({ view: chain, pool: new MemoryPool() })
      const logs = filters.newLogFilter({ ...wanted, fromBlock: undefined, toBlock: undefined, blockHash: undefined })
      const blocks = filters.newBlockFilter()
      const pushed: Record<string, string[]> = {}
      const hub = hubOn({ view: chain, pool: new MemoryPool() })
      const messageScope = hub
        .open(frame => {
          const { subscription, result } = JSON.parse(String(frame)).params
          pushed[subscription]?.push(
            result.logIndex ? `${Number(result.blockNumber)}/${Number(result.logIndex)}` : result.hash,
          )
        })
        .scope()
      const logId = messageScope.subscribe('eth', { kind: 'logs', criteria: packCriteria(wanted) })
      const headId = messageScope.subscribe('eth', { kind: 'newHeads' })
      pushed[logId] = []
      pushed[headId] = []
      const seen: string[] = []
      const heads: string[] = []
      const expected: string[] = []
      const poll = async () => {
        const [changes, hashes] = await Promise.all([filters.changes(logs), filters.changes(blocks)])
        if ('logs' in changes) seen.push(...changes.logs.map(item => `${item.blockNumber}/${item.logIndex}`))
        if ('hashes' in hashes) heads.push(...hashes.hashes)
      }
      for (const item of steps) {
        if (item.type === 'poll') {
          await poll()
          continue
        }
        // Notifications before the answer with the ids are held back, and sent after it.
        if (steps.indexOf(item) > 2) messageScope.release()
        const { header } = chain.append({ transactions: [TRANSACTION], logs: [item.logs] })
        item.logs.forEach((one, i) => {
          if (isWanted(wanted, one)) expected.push(`${header.number}/${i}`)
        })
      }
      await poll()
      messageScope.release()
      expect(pushed[logId]).toEqual(expected)
      expect(pushed[headId]).toEqual(heads)
      hub.close()
      expect(seen).toEqual(expected)
      expect(heads).toEqual(chain.blocks.slice(1).map(block => block.hash))
      filters.close()
    }),
    { seed, numRuns: 150 },
  )
})
