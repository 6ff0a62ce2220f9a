import { describe, expect, test } from 'vitest'
import type { Envelope } from '../../../../../devtools/sim/network/envelope.ts'
import { EventQueue } from '../../../../../devtools/sim/network/event-queue.ts'
import { SimNetwork } from '../../../../../devtools/sim/network/sim-network.ts'
import { FAULTLESS } from '../../../../../devtools/sim/plan/draw-plan.ts'
import type { LinkConditions } from '../../../../../devtools/sim/plan/plan.ts'

const FRAME: Envelope = { type: 'vote', bytes: Uint8Array.of(1) }

const setup = (linkFaults: Partial<LinkConditions> = {}) => {
  const queue = new EventQueue()
  const heard: string[] = []
  const deliver = (from: number, to: number) => heard.push(`${from}>${to}`)
  const network = new SimNetwork({ size: 3, seed: 1, linkConditions: { ...FAULTLESS, ...linkFaults }, queue, deliver })
  const drain = () => {
    while (queue.next());
    return heard.splice(0)
  }
  const all = () => {
    for (const [from, to] of [
      [0, 1],
      [0, 2],
      [1, 0],
      [2, 0],
      [1, 2],
    ] as const)
      network.post(from, to, FRAME)
    return drain().sort()
  }
  return { network, queue, drain, all }
}

test('a split keeps both sides apart, a one-way one only what the side says, until each has ended', () => {
  const { network, all } = setup()
  const everything = ['0>1', '0>2', '1>0', '1>2', '2>0']
  expect(all()).toEqual(everything)
  const whole = network.partition([0], false)
  expect(all()).toEqual(['1>2'])
  const half = network.partition([0], true)
  whole()
  expect(all()).toEqual(['1>0', '1>2', '2>0'])
  half()
  expect(all()).toEqual(everything)
})

test('healing ends all partitions, also those whose end is still to come', () => {
  const { network, all } = setup({ loss: 1 })
  const end = network.partition([0], false)
  expect(all()).toEqual([])
  network.heal(FAULTLESS)
  expect(all()).toHaveLength(5)
  end()
  network.partition([1], true)
  expect(network.isOpen(1, 2)).toBe(false)
})

describe('link faults', () => {
  test('loses and doubles in the share it says', () => {
    const { network, drain } = setup({ loss: 0.25, duplicate: 0.2 })
    for (let count = 0; count < 4_000; count++) network.post(0, 1, FRAME)
    expect(network.simTraffic.lost / 4_000).toBeCloseTo(0.25, 1)
    expect(network.simTraffic.duplicated / 3_000).toBeCloseTo(0.2, 1)
    expect(drain()).toHaveLength(4_000 - network.simTraffic.lost + network.simTraffic.duplicated)
  })

  test('what happens on one link does not change another', () => {
    const arrivals = (others: number) => {
      const { network, queue } = setup({ loss: 0.3, delayMs: 50 })
      for (let count = 0; count < others; count++) network.post(1, 0, FRAME)
      while (queue.next());
      const lost = network.simTraffic.lost
      for (let count = 0; count < 100; count++) network.post(0, 2, FRAME)
      return network.simTraffic.lost - lost
    }
    expect(arrivals(0)).toBe(arrivals(57))
  })
})
