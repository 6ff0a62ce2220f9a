import { describe, expect, test } from 'vitest'
import { stubKeys } from '../../../../devtools/sim/keys.ts'
import { RelayedStatements, Topology } from '../../../../devtools/sim/network/topology.ts'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'

const { addresses } = stubKeys(4)
const [A, B, C, D] = addresses as readonly [`0x${string}`, `0x${string}`, `0x${string}`, `0x${string}`]

/** Members 0 to 3; `down`: nodes that do not run. */
const topologyOf = (relays: number, ...down: readonly number[]): Topology =>
  new Topology({ size: 4, relays, addresses, isConnected: (_, other) => !down.includes(other) })

describe('nodes of a simulated network', () => {
  test('without relays all members are neighbours', () => {
    expect(topologyOf(0).neighbours(1)).toEqual([0, 2, 3])
    expect(topologyOf(0, 2).reached(1)).toEqual([A, D])
  })

  test('with relays a member has one of them, and reaches the others through all', () => {
    const topology = topologyOf(2)
    expect([0, 1, 4, 5].map(node => topology.neighbours(node))).toEqual([[4], [5], [0, 2, 5], [1, 3, 4]])
    expect(topology.reached(0)).toEqual([C, B, D])
    expect(topologyOf(2, 5).reached(0)).toEqual([C])
    expect(topologyOf(2, 4).reached(0)).toEqual([])
  })

  test('a relay speaks for its own members, and to members for those of other relays too', () => {
    const topology = topologyOf(2)
    expect(topology.speaker(0, 4).speaksFor).toEqual([A, C, B, D])
    expect(topology.speaker(5, 4).speaksFor).toEqual([A, C])
    expect(topology.speaker(4, 0)).toEqual({ speaksFor: [A], reaches: [] })
  })

  test('a relay passes a statement to its members and to relays that do not reach the author, not back', () => {
    const topology = topologyOf(3)
    expect(topology.targets(4, A, 0)).toEqual([3, 5, 6])
    expect(topology.targets(5, A, 4)).toEqual([1, 6])
    expect(topology.targets(5, C, 4)).toEqual([1])
  })

  test('a statement is passed on again only after a while', () => {
    const statements = new RelayedStatements()
    const vote = { type: 'vote', bytes: Uint8Array.of(1, 2) } as const
    const again = [0, NETWORK_LIMITS.relayAgainMs - 1, NETWORK_LIMITS.relayAgainMs]
    expect(again.map(nowMs => statements.add(vote, nowMs))).toEqual([true, false, true])
    expect(statements.add({ ...vote, bytes: Uint8Array.of(1) }, 0)).toBe(true)
  })
})
