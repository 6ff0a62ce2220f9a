import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { packCriteria } from '../../../src/chain/store/log-criteria.ts'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { createBudgets } from '../../../src/rpc/router/budgets.ts'
import { SharedCriteria } from '../../../src/rpc/subscriptions/shared-criteria.ts'
import { filtersOn, hubOn } from '../../support/rpc/hub.ts'
import { MemoryChain } from '../../support/rpc/memory-chain.ts'
import { MemoryPool } from '../../support/rpc/services.ts'

const { client: ofOne, total } = RPC_LIMITS.budgets.criteria
const GREEDY = '192.0.2.66'
const HONEST = '192.0.2.7'

/** As much as a request may name: a thousand addresses and four thousand topics, other ones for each number. */
const wide = (seed: number) => ({
  addresses: Array.from({ length: 1_000 }, (_, i): Hex => `0x${(seed * 10_000 + i).toString(16).padStart(40, '0')}`),
  topics: Array.from({ length: 4 }, (_, position) =>
    Array.from({ length: 1_000 }, (_, i) => toWord(BigInt(seed * 10_000 + position * 1_000 + i))),
  ),
})
const WIDE_BYTES = 1_000 * 20 + 4_000 * 32 + RPC_LIMITS.filterBytes
const anyRange = { fromBlock: undefined, toBlock: undefined, blockHash: undefined }

const make = () => {
  const parts = {
    view: new MemoryChain(),
    pool: new MemoryPool(),
    budgets: createBudgets(),
    criteria: new SharedCriteria(),
  }
  return { ...parts, hub: hubOn(parts), filters: filtersOn(parts) }
}

const refusal = expect.objectContaining({
  code: -32_005,
  message: `your filters and subscriptions hold more than ${ofOne} bytes: end some, or name fewer addresses and topics`,
})

describe('what one client looks for', () => {
  test('is counted in bytes over all its sockets and filters, and others keep their room', () => {
    const { hub, filters, budgets, criteria } = make()
    const sessions = Array.from({ length: 3 }, () => hub.open(() => {}, GREEDY))
    let taken = 0
    const subscribe = (seed: number, socketSession = sessions[seed % 3]): void => {
      socketSession?.scope().subscribe('eth', { kind: 'logs', criteria: packCriteria(wide(seed)) })
      taken++
    }
    expect(() => {
      for (let seed = 1; ; seed++) subscribe(seed)
    }).toThrow(refusal)
    expect(taken).toBe(Math.floor(ofOne / WIDE_BYTES))
    expect(budgets.criteria.heldBy(GREEDY)).toBe(taken * WIDE_BYTES)
    expect(() => filters.newLogFilter({ ...wide(999), ...anyRange }, GREEDY)).toThrow(refusal)
    expect(budgets.filters.heldBy(GREEDY), 'a filter that was refused takes no place').toBe(0)
    const id = filters.newLogFilter({ ...wide(1_000), ...anyRange }, HONEST)
    hub
      .open(() => {}, HONEST)
      .scope()
      .subscribe('eth', { kind: 'newHeads' })
    expect(filters.uninstall(id)).toBe(true)
    for (const socketSession of sessions) socketSession.close()
    expect(budgets.criteria.heldBy(GREEDY)).toBe(0)
    expect([budgets.criteria.held, criteria.size, hub.size]).toEqual([RPC_LIMITS.filterBytes, 0, 1])
  })

  test('is kept once however many look for it, and each of them is charged', () => {
    const { hub, filters, budgets, criteria } = make()
    const socketSession = hub.open(() => {}, GREEDY)
    const messageScope = socketSession.scope()
    const ids = Array.from({ length: 10 }, () =>
      messageScope.subscribe('eth', { kind: 'logs', criteria: packCriteria(wide(1)) }),
    )
    const filter = filters.newLogFilter({ ...wide(1), ...anyRange }, HONEST)
    expect(criteria.size).toBe(1)
    expect(budgets.criteria.held).toBe(11 * WIDE_BYTES)
    for (const id of ids) expect(messageScope.unsubscribe(id)).toBe(true)
    expect(criteria.size).toBe(1)
    filters.uninstall(filter)
    expect([criteria.size, budgets.criteria.held, budgets.filters.held]).toEqual([0, 0, 0])
  })

  test('comes and goes without an end and leaves nothing', () => {
    const { hub, filters, budgets, criteria } = make()
    const narrow = (seed: number) => ({ addresses: wide(seed).addresses.slice(0, 9), topics: [] })
    const looked = [1, 2, 3].map(narrow)
    for (let round = 0; round < 200; round++) {
      const socketSession = hub.open(() => {}, GREEDY)
      const messageScope = socketSession.scope()
      const ids = looked.map(one => messageScope.subscribe('eth', { kind: 'logs', criteria: packCriteria(one) }))
      messageScope.subscribe('eth', { kind: 'newPendingTransactions', full: true })
      messageScope.unsubscribe(ids[round % 3] as Hex)
      const filter = filters.newLogFilter({ ...(looked[round % 3] as (typeof looked)[number]), ...anyRange }, GREEDY)
      if (round % 2 === 0) filters.uninstall(filter)
      else filters.close()
      socketSession.close()
    }
    expect([criteria.size, budgets.criteria.held, budgets.filters.held, hub.size, filters.size]).toEqual([
      0, 0, 0, 0, 0,
    ])
  })

  test('has an end for all clients together', () => {
    const { hub, budgets } = make()
    const message = 'the filters and subscriptions of all clients hold too much, try again later'
    expect(() => {
      for (let seed = 1; ; seed++) {
        // A /64 for each subscription.
        const messageScope = hub.open(() => {}, `2001:db8:0:${seed.toString(16)}`).scope()
        messageScope.subscribe('eth', { kind: 'logs', criteria: packCriteria(wide(seed)) })
      }
    }).toThrow(expect.objectContaining({ code: -32_005, message }))
    expect(budgets.criteria.held).toBeLessThanOrEqual(total)
  })
})
