import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { HostLookup } from '../../../src/network/peer/dialer.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const makeLookup = () => {
  const asked: { readonly host: string; answer(address: string): void; fail(): void }[] = []
  const lookup = new HostLookup(host => {
    const { promise, resolve, reject } = Promise.withResolvers<{ address: string }>()
    asked.push({ host, answer: address => resolve({ address }), fail: () => reject(new Error('ENOTFOUND')) })
    return promise
  })
  return { lookup, asked }
}

test('an address is itself', async () => {
  const { lookup, asked } = makeLookup()
  expect([await lookup.addressOf('192.0.2.1'), await lookup.addressOf('2001:db8::1')]).toEqual([
    '192.0.2.1',
    '2001:db8::1',
  ])
  expect(asked).toEqual([])
})

test('a name server that is silent is waited for a second, asked once, and the last address counts', async () => {
  const { lookup, asked } = makeLookup()
  const first = lookup.addressOf('sentry.example')
  asked[0]?.answer('192.0.2.1')
  expect(await first).toBe('192.0.2.1')
  for (let attempt = 0; attempt < 5; attempt++) {
    const late = lookup.addressOf('sentry.example')
    await vi.advanceTimersByTimeAsync(NETWORK_LIMITS.lookUpMs)
    expect(await late).toBe('192.0.2.1')
  }
  expect(asked).toHaveLength(2)
  asked[1]?.fail()
  await vi.advanceTimersByTimeAsync(0)
  const failed = lookup.addressOf('sentry.example')
  asked[2]?.fail()
  expect(await failed).toBe('192.0.2.1')
  const moved = lookup.addressOf('sentry.example')
  asked[3]?.answer('192.0.2.9')
  expect(await moved).toBe('192.0.2.9')
})

test('a name without any address is a failure in time', async () => {
  const { lookup } = makeLookup()
  const unknown = expect(lookup.addressOf('nowhere.example')).rejects.toThrow('in time')
  await vi.advanceTimersByTimeAsync(NETWORK_LIMITS.lookUpMs)
  await unknown
})
