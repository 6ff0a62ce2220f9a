import { describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { filtersOn } from '../../../support/rpc/hub.ts'
import { MemoryChain, signedTransaction } from '../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../support/rpc/rig.ts'
import { MemoryPool } from '../../../support/rpc/services.ts'

const anyLog = { addresses: [], topics: [], fromBlock: undefined, toBlock: undefined, blockHash: undefined }

const make = () => {
  const clock = { ms: 0 }
  const chain = new MemoryChain()
  const pool = new MemoryPool()
  return { clock, chain, pool, filters: filtersOn({ view: chain, pool, nowMs: () => clock.ms }) }
}

describe('filters', () => {
  test('are dropped without polls, and stay while polled', async () => {
    const { clock, filters } = make()
    const idle = filters.newBlockFilter()
    const used = filters.newBlockFilter()
    clock.ms = RPC_LIMITS.filterIdleMs - 1
    await filters.changes(used)
    clock.ms = RPC_LIMITS.filterIdleMs + 1
    await expect(filters.changes(idle)).rejects.toThrow('filter not found')
    await expect(filters.changes(used)).resolves.toEqual({ hashes: [] })
    expect(filters.size).toBe(1)
    expect(filters.uninstall(used)).toBe(true)
    expect(filters.uninstall(used)).toBe(false)
  })

  test('are bounded for each client and for all, idle ones making room', () => {
    const { clock, filters } = make()
    const { client, total } = RPC_LIMITS.budgets.filters
    for (let i = 0; i < client; i++) filters.newBlockFilter()
    const refused = {
      code: -32_005,
      message: `too many filters, at most ${client} of one client: uninstall some, or use eth_getLogs`,
    }
    expect(() => filters.newBlockFilter()).toThrow(expect.objectContaining(refused))
    for (let i = client; i < total; i++) filters.newPendingFilter(`192.0.2.${2 + Math.floor(i / client)}`)
    expect(() => filters.newPendingFilter('198.51.100.1')).toThrow(`at most ${total} of all clients, try again later`)
    clock.ms = RPC_LIMITS.filterIdleMs + 1
    filters.newBlockFilter()
    filters.newBlockFilter('198.51.100.1')
    expect(filters.size).toBe(2)
  })

  test('give pending hashes once to each, and keep a bounded number', async () => {
    const { pool, filters } = make()
    const first = signedTransaction({ nonce: 0 })
    pool.add(first)
    const one = filters.newPendingFilter()
    const second = signedTransaction({ nonce: 1 })
    pool.add(second)
    const two = filters.newPendingFilter()
    expect(await filters.changes(one)).toEqual({ hashes: [second.hash] })
    expect(await filters.changes(one)).toEqual({ hashes: [] })
    expect(await filters.changes(two)).toEqual({ hashes: [] })
    for (let i = 0; i <= RPC_LIMITS.filterResults; i++) pool.add(first)
    const changes = await filters.changes(one)
    const kept = 'hashes' in changes ? changes.hashes.length : 0
    expect(kept).toBeGreaterThanOrEqual(RPC_LIMITS.filterResults / 2)
    expect(kept).toBeLessThanOrEqual(RPC_LIMITS.filterResults)
  })

  test('hold pending hashes only for filters that have not returned them', async () => {
    const { clock, pool, filters } = make()
    const [quick, slow, idle] = [filters.newPendingFilter(), filters.newPendingFilter(), filters.newPendingFilter()]
    const send = (from: number, count: number) => {
      const sent = Array.from({ length: count }, (_, i) => signedTransaction({ nonce: from + i }))
      for (const transaction of sent) pool.add(transaction)
      return sent.map(({ hash }) => hash)
    }
    const step = RPC_LIMITS.filterIdleMs / 2
    const early = send(0, 10)
    clock.ms = 1
    await filters.changes(quick)
    expect(await filters.changes(slow)).toEqual({ hashes: early })
    clock.ms += step
    const late = send(10, 5)
    expect(filters.heldHashes).toBe(15)
    expect(await filters.changes(quick)).toEqual({ hashes: late })
    clock.ms += step
    // The idle one goes, and with it what only it had not fetched.
    const [last] = send(15, 1)
    expect(filters.heldHashes).toBe(6)
    await expect(filters.changes(idle)).rejects.toThrow('filter not found')
    expect(await filters.changes(slow)).toEqual({ hashes: [...late, last] })
    expect(await filters.changes(quick)).toEqual({ hashes: [last] })
    filters.uninstall(slow)
    filters.uninstall(quick)
    expect(filters.heldHashes).toBe(0)
  })

  test('give a flood of logs in portions', async () => {
    const { chain, filters } = make()
    const id = filters.newLogFilter(anyLog)
    const log = { address: signedTransaction({ nonce: 0 }).from, topics: [], data: new Uint8Array(0) }
    const perBlock = RPC_LIMITS.logResults / 4
    for (let i = 0; i < 6; i++)
      chain.append({
        transactions: [signedTransaction({ nonce: 0 })],
        logs: [Array.from({ length: perBlock }, () => log)],
      })
    let total = 0
    for (let polls = 0; polls < 4; polls++) {
      const changes = await filters.changes(id)
      if ('logs' in changes) total += changes.logs.length
    }
    expect(total).toBe(6 * perBlock)
  })
})

describe('log queries', () => {
  test('take ranges as people mean them', async () => {
    const rig = await Rig.start()
    rig.chain.append()
    const hash = `0x${'ab'.repeat(32)}`
    expect(await rig.result('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0xffffff' }])).toEqual([])
    expect(await rig.result('eth_getLogs', [{ fromBlock: '0xfffff' }])).toEqual([])
    expect(await rig.failure('eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x1' }])).toBe(
      '-32602 invalid block range params',
    )
    expect(await rig.failure('eth_getLogs', [{ blockHash: hash }])).toBe('-32000 unknown block')
    expect(await rig.failure('eth_getLogs', [{ blockHash: hash, toBlock: '0x1' }])).toBe(
      '-32602 invalid argument 1: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    )
    expect(await rig.failure('eth_getLogs', [{ fromBlock: 'pending' }])).toBe('-32000 pending logs are not supported')
    expect(await rig.failure('eth_newFilter', [{ fromBlock: '0x5', toBlock: '0x1' }])).toBe(
      '-32602 invalid block range params',
    )
    expect(await rig.failure('eth_getFilterChanges', ['0x1'])).toBe('-32000 filter not found')
    const blocks = await rig.result('eth_newBlockFilter')
    expect(await rig.failure('eth_getFilterLogs', [blocks])).toBe('-32000 filter not found')
    await rig.stop()
  })
})
