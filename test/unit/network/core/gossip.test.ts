import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { TransactionFetchPlan } from '../../../../src/network/core/fetch-plan.ts'
import { Reachability } from '../../../../src/network/core/reachability.ts'

const validator = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`

describe('links', () => {
  const [a, b, c] = [validator(1), validator(2), validator(3)]
  const neighbours = new Map<string, Hex | null>([
    ['A', a],
    ['B', b],
    ['relay', null],
  ])

  test('in a full mesh nothing is passed on', () => {
    const reachability = new Reachability()
    reachability.heard('A', [b, c])
    reachability.heard('B', [a, c])
    reachability.heard('relay', [a, b, c])
    expect(reachability.targets(a, 'A', neighbours)).toEqual([])
  })
  test('goes to those who do not reach the author, never back and never to the author', () => {
    const reachability = new Reachability()
    expect(reachability.targets(a, 'A', neighbours)).toEqual(['B', 'relay'])
    reachability.heard('B', [c])
    reachability.heard('relay', [a])
    expect(reachability.targets(a, 'A', neighbours)).toEqual(['B'])
    expect(reachability.targets(c, 'relay', neighbours)).toEqual(['A'])
    reachability.forget('B')
    expect(reachability.targets(c, 'relay', neighbours)).toEqual(['A', 'B'])
  })
  test('lists the members that are near, and those near to a neighbour', () => {
    const reachability = new Reachability()
    expect(reachability.reachable([a, b, c], null, neighbours)).toEqual([a, b])
    reachability.heard('relay', [c])
    expect(reachability.reachable([a, b, c], null, neighbours)).toEqual([a, b, c])
    expect(reachability.reachable([a, b, c], c, neighbours)).toEqual([a, b])
  })
})

describe('wanted transactions', () => {
  const make = () => new TransactionFetchPlan({ total: 6, share: 1, perPeer: 4, perRequest: 2, announcers: 2 })

  test('are asked of one peer at a time, a few in a request', () => {
    const fetchPlan = make()
    fetchPlan.announced('A', ['1', '2', '3'], false)
    fetchPlan.announced('B', ['1', '3'], false)
    expect(fetchPlan.ask('A')).toEqual(['1', '2'])
    expect(fetchPlan.ask('A')).toBeUndefined()
    expect(fetchPlan.ask('B')).toEqual(['3'])
  })
  test('that a peer did not bring are asked of another', () => {
    const fetchPlan = make()
    fetchPlan.announced('A', ['1', '2'], false)
    fetchPlan.announced('B', ['1', '2'], false)
    fetchPlan.ask('A')
    fetchPlan.arrived('2')
    expect(fetchPlan.answered('A')).toEqual(['B'])
    expect(fetchPlan.ask('A')).toBeUndefined()
    expect(fetchPlan.ask('B')).toEqual(['1'])
    expect(fetchPlan.answered('B')).toEqual([])
    expect(fetchPlan.size).toBe(0)
  })
  test('of a peer that left are asked of others, whether it was being asked or not', () => {
    const fetchPlan = make()
    fetchPlan.announced('A', ['1', '2', '3'], false)
    fetchPlan.announced('B', ['2', '3'], false)
    fetchPlan.ask('A')
    expect(fetchPlan.forget('A')).toEqual(['B'])
    expect(fetchPlan.ask('B')).toEqual(['2', '3'])
    expect(fetchPlan.size).toBe(2)
  })
  test('are bounded in all and for each peer', () => {
    const fetchPlan = make()
    fetchPlan.announced('A', ['1', '2', '3', '4', '5'], false)
    expect(fetchPlan.size).toBe(4)
    fetchPlan.announced('B', ['6', '7', '8'], false)
    expect(fetchPlan.size).toBe(6)
    for (const peer of ['C', 'D', 'E']) fetchPlan.announced(peer, ['1'], false)
    fetchPlan.arrived('1')
    for (const peer of ['A', 'B', 'C', 'D', 'E']) fetchPlan.forget(peer)
    expect(fetchPlan.size).toBe(0)
  })
  test('beyond the bound in all are the share of a stranger, and all of a member', () => {
    const fetchPlan = make()
    for (const peer of ['A', 'B'])
      fetchPlan.announced(
        peer,
        [1, 2, 3].map(index => `${peer}${index}`),
        false,
      )
    expect(['A', 'C'].map(peer => fetchPlan.isFull(peer, false))).toEqual([true, false])
    fetchPlan.announced('C', ['1', '2'], false)
    expect(fetchPlan.ask('C')).toEqual(['1'])
    fetchPlan.announced('member', ['3', '4', '5', '6', '7'], true)
    expect(fetchPlan.size).toBe(11)
    expect(fetchPlan.isFull('member', true)).toBe(true)
  })
})
