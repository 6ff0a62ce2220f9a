import { describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'
import { ByteBudget } from '../../../../src/network/core/byte-budget.ts'
import { DISCONNECT_REASONS, disconnectReasonFromCode } from '../../../../src/network/core/disconnect-reasons.ts'
import { keepsNewConnection } from '../../../../src/network/core/duplicate-connections.ts'
import { InboundLimiter } from '../../../../src/network/core/inbound-limiter.ts'
import { assignSlot, networksOf, peerToEvict } from '../../../../src/network/core/peer-slots.ts'

const limits = { inbound: 2, outbound: 1, reserved: 1, perAddress: 2 }
const none = { inbound: 0, outbound: 0, reserved: 0, sameAddress: 0 }
const stranger = { inbound: true, reserved: false, loopback: false }

describe('places', () => {
  test.each([
    ['a stranger', stranger, none, { place: 'inbound' }],
    ['one we dialed', { ...stranger, inbound: false }, none, { place: 'outbound' }],
    ['too many of them', stranger, { ...none, inbound: 2 }, { refused: 'tooManyPeers' }],
    ['dialed ones apart', { ...stranger, inbound: false }, { ...none, inbound: 2 }, { place: 'outbound' }],
    ['one address', stranger, { ...none, sameAddress: 2 }, { refused: 'tooManyFromAddress' }],
    ['the loopback is no address', { ...stranger, loopback: true }, { ...none, sameAddress: 9 }, { place: 'inbound' }],
    ['a member', { ...stranger, reserved: true }, { ...none, inbound: 2, sameAddress: 9 }, { place: 'reserved' }],
    ['one member more is as others', { ...stranger, reserved: true }, { ...none, reserved: 1 }, { place: 'inbound' }],
  ])('%s', (_, candidate, counts, expected) => {
    expect(assignSlot(candidate, counts, limits)).toEqual(expected)
  })
})

test.each([
  ['the newest of the address that has most', ['a', 'b', 'b', 'b', 'a'], 3],
  ['none when the newcomer has as many', ['x', 'x', 'b', 'b', 'b'], undefined],
  ['none when it would have as many then', ['x', 'b', 'b', 'c'], undefined],
  ['none of many addresses', ['a', 'b', 'c', 'd'], undefined],
  ['none of nobody', [], undefined],
  ['the newest of a /16 full of addresses', ['7.7.1.1', '7.7.2.1', '8.8.1.1', '7.7.3.1', '9.9.1.1'], 3],
  ['the newest of the /24 that has most in it', ['7.7.1.1', '7.7.1.2', '8.8.1.1', '7.7.3.1', '9.9.1.1'], 1],
  ['one of forty /64s of a /48', Array.from({ length: 40 }, (_, index) => `2001:db8:1:${index}::1`), 39],
  ['one of forty /48s of a /32', Array.from({ length: 40 }, (_, index) => `2001:db8:${index}::1`), 39],
])('a newcomer takes the place of %s', (_, addresses, expected) => {
  const peers = addresses.map((address, index) => ({ id: String(index), networks: networksOf(address) }))
  expect(peerToEvict(peers, networksOf('x'))).toBe(expected?.toString())
})

test('a newcomer of the largest network takes the place of a larger part of it', () => {
  const addresses = ['7.7.1.1', '7.7.1.2', '7.7.1.3', '7.7.2.1']
  const peers = addresses.map((address, index) => ({ id: String(index), networks: networksOf(address) }))
  expect(peerToEvict(peers, networksOf('7.7.9.9'))).toBe('2')
  expect(peerToEvict(peers, networksOf('7.7.1.9'))).toBeUndefined()
})

test('a newcomer of the largest network takes no place of a smaller one, however that is spread', () => {
  const addresses = ['8.8.1.1', '8.8.1.1', '7.7.1.1', '7.7.2.1', '7.7.3.1', '7.7.4.1', '7.7.5.1']
  const peers = addresses.map((address, index) => ({ id: String(index), networks: networksOf(address) }))
  expect(peerToEvict(peers, networksOf('7.7.9.9'))).toBeUndefined()
})

describe('the limiter of inbound connections', () => {
  const createLimiter = () =>
    new InboundLimiter({ pending: 3, pendingPerAddress: 2, connectsPerSecond: 1, connectsBurst: 4, addresses: 2 })

  const nothing = () => {}
  /** True when the limiter admits a connection. */
  const enters = (limiter: InboundLimiter, address: string, nowMs = 0) =>
    limiter.enter(address, nowMs, nothing) !== undefined

  test('admits a few connections of one address at a time', () => {
    const limiter = createLimiter()
    const leave = limiter.enter('a', 0, nothing)
    expect([enters(limiter, 'a'), enters(limiter, 'a'), enters(limiter, 'b')]).toEqual([true, false, true])
    leave?.()
    leave?.()
    expect(limiter.pending).toBe(2)
    expect(enters(limiter, 'a')).toBe(true)
  })

  test('drops the connection that has taken longest when it is full', () => {
    const limiter = createLimiter()
    const dropped: string[] = []
    const leaves = ['a', 'b', 'c', 'd', 'e'].map(address => limiter.enter(address, 0, () => dropped.push(address)))
    expect([dropped, limiter.pending]).toEqual([['a', 'b'], 3])
    // Its connection closes only now, and it is not counted twice.
    leaves[0]?.()
    expect(limiter.pending).toBe(3)
    leaves[3]?.()
    expect([enters(limiter, 'f'), dropped.length, limiter.pending]).toEqual([true, 2, 3])
  })

  test.each([
    ['another address of it', '7.7.9.9', '7.7.1.1'],
    ['an address that waits already', '7.7.2.1', '7.7.2.1'],
    ['the address that has most', '7.7.3.1', '7.7.3.1'],
  ])('drops one of the largest network for a newcomer from %s', (_, newcomer, expected) => {
    const limiter = new InboundLimiter({ ...NETWORK_LIMITS, pending: 6 })
    const dropped: string[] = []
    const addresses = ['8.8.1.1', '9.9.1.1', '7.7.1.1', '7.7.2.1', '7.7.3.1']
    const last = expected === '7.7.3.1' ? expected : '7.7.4.1'
    for (const address of [...addresses, last, newcomer]) limiter.enter(address, 0, () => dropped.push(address))
    expect(dropped).toEqual([expected])
  })

  test('drops no honest connection for a flood of a hundred addresses that are silent', () => {
    const limiter = new InboundLimiter({ ...NETWORK_LIMITS })
    let dropped = 0
    // 400 a second for ten seconds; an honest handshake takes three round trips of 120 ms.
    for (let index = 0; index < 4_000; index++) {
      const atMs = index * 2.5
      limiter.enter(`${10 + (index % 100)}.1.1.1`, atMs, nothing)
      if (index % 400 !== 0) continue
      const leave = limiter.enter(`200.${index % 250}.1.1`, atMs, () => dropped++)
      for (let later = 1; later <= 144; later++)
        limiter.enter(`${10 + (later % 100)}.1.1.1`, atMs + later * 2.5, nothing)
      leave?.()
    }
    expect(dropped).toBe(0)
    expect(limiter.pending).toBeLessThanOrEqual(NETWORK_LIMITS.pending)
  })

  test('limits the rate of connections of an address, refused ones included', () => {
    const limiter = createLimiter()
    for (let count = 0; count < 4; count++) limiter.enter('a', 0, nothing)?.()
    expect(enters(limiter, 'a', 500)).toBe(false)
    expect(enters(limiter, 'a', 1_000)).toBe(true)
  })

  test.each([
    ['a /48', 4, (index: number) => `2001:db8:1:${index.toString(16)}::1`],
    ['a /32', 16, (index: number) => `2001:db8:${(index % 5_000).toString(16)}:${index.toString(16)}::1`],
    ['a /16', 16, (index: number) => `6.6.${index % 250}.${(index >> 8) % 250}`],
  ])('limits the rate of handshakes that the owner of %s costs, and of no other', (_, share, hostOf) => {
    const limiter = new InboundLimiter(NETWORK_LIMITS)
    const seconds = 10
    let handshakes = 0
    for (let index = 0; index < 10_000; index++) {
      const leave = limiter.enter(hostOf(index), (index * seconds) / 10, nothing)
      if (leave !== undefined) handshakes++
      leave?.()
    }
    const { connectsPerSecond, connectsBurst } = NETWORK_LIMITS
    expect(handshakes).toBeLessThanOrEqual(share * (connectsBurst + connectsPerSecond * seconds))
    for (const address of ['2001:db9::1', '7.6.1.1']) expect(enters(limiter, address, 10_000)).toBe(true)
  })

  test('remembers a bounded number of addresses', () => {
    const limiter = createLimiter()
    for (let count = 0; count < 1_000; count++) limiter.enter(`address ${count}`, 0, nothing)?.()
    expect(limiter.pending).toBe(0)
    expect(enters(limiter, 'address 0')).toBe(true)
  })
})

test('bytes that several hold together have one bound', () => {
  const byteBudget = new ByteBudget(10)
  expect([byteBudget.take(6), byteBudget.take(5), byteBudget.take(4)]).toEqual([true, false, true])
  byteBudget.give(6)
  expect([byteBudget.take(7), byteBudget.take(6)]).toEqual([false, true])
})

describe('of two connections to one node', () => {
  const old = { inbound: true, instance: 'x' }
  test('both ends keep the same one', () => {
    // The node with the lower id dialed one, the other one the other.
    const seenByLow = { self: 'a', peer: 'b' }
    const seenByHigh = { self: 'b', peer: 'a' }
    for (const firstIsLows of [true, false]) {
      const low = keepsNewConnection(
        seenByLow,
        { inbound: !firstIsLows, instance: 'B' },
        { inbound: firstIsLows, instance: 'B' },
      )
      const high = keepsNewConnection(
        seenByHigh,
        { inbound: firstIsLows, instance: 'A' },
        { inbound: !firstIsLows, instance: 'A' },
      )
      expect(low).toBe(high)
      // Whichever came first, the one the lower id dialed stays.
      expect(low).toBe(!firstIsLows)
    }
  })
  test('a restarted node is heard', () => {
    for (const inbound of [true, false])
      expect(keepsNewConnection({ self: 'a', peer: 'b' }, old, { inbound, instance: 'y' })).toBe(true)
  })
  test('the newer one of the same side stays', () => {
    expect(keepsNewConnection({ self: 'a', peer: 'b' }, old, old)).toBe(true)
  })
})

test('every reason has a code of its own, and a code without one is nothing', () => {
  const codes = Object.values(DISCONNECT_REASONS).map(({ code }) => code)
  expect(new Set(codes).size).toBe(codes.length)
  for (const [name, { code }] of Object.entries(DISCONNECT_REASONS)) expect(disconnectReasonFromCode(code)).toBe(name)
  expect(disconnectReasonFromCode(255)).toBeUndefined()
})
