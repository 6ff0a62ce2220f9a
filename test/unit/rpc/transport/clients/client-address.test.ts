import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClientAddress, type TrustProxy } from '../../../../../src/rpc/transport/clients/client-address.ts'
import { SEED } from '../../../../support/seed.ts'

const addressOf = (
  proxies: TrustProxy['proxies'],
  remoteAddress: string,
  headers: Record<string, string>,
  header: TrustProxy['header'] = 'x-forwarded-for',
): string => createClientAddress({ proxies, header }).of({ socket: { remoteAddress } as never, headers })

const xff = (text: string) => ({ 'x-forwarded-for': text })

describe('x-forwarded-for', () => {
  test.each<[string, TrustProxy['proxies'], string, string, string]>([
    ['one proxy', 1, '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['one proxy, and an entry of the client before it', 1, '127.0.0.1', '8.8.8.8, 203.0.113.9', '203.0.113.9'],
    ['two proxies', 2, '127.0.0.1', '8.8.8.8, 203.0.113.9, 10.0.0.5', '203.0.113.9'],
    ['fewer hops than proxies', 3, '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['a proxy by its address', ['loopback'], '127.0.0.1', '8.8.8.8, 203.0.113.9', '203.0.113.9'],
    ['an IPv4 proxy at a dual-stack socket', ['127.0.0.1'], '::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['a chain of subnets', ['127.0.0.1', '10.0.0.0/8'], '127.0.0.1', '1.1.1.1, 203.0.113.9, 10.3.2.1', '203.0.113.9'],
    ['an untrusted connection', ['10.0.0.0/8'], '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['an untrusted hop in between', ['127.0.0.1'], '127.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
    ['a port', 1, '127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 with a port', 1, '127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['no address', 1, '127.0.0.1', 'unknown', '127.0.0.1'],
    ['no address beyond an address', 2, '127.0.0.1', 'evil, 203.0.113.9', '203.0.113.9'],
    ['nothing', 1, '127.0.0.1', '', '127.0.0.1'],
  ])('%s', (_, proxies, remote, text, client) => {
    expect(addressOf(proxies, remote, xff(text))).toBe(client)
  })

  test('the other header changes nothing: the proxy passes it on from the client', () => {
    expect(addressOf(1, '127.0.0.1', { ...xff('203.0.113.9'), forwarded: 'for=8.8.8.8' })).toBe('203.0.113.9')
    expect(addressOf(1, '127.0.0.1', { forwarded: 'for=8.8.8.8' })).toBe('127.0.0.1')
  })

  test('whatever an untrusted client sends, it stays itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, two) => {
        const headers = { 'x-forwarded-for': one, forwarded: two }
        expect(addressOf(['10.0.0.0/8'], '198.51.100.1', headers)).toBe('198.51.100.1')
        expect(addressOf(['10.0.0.0/8'], '198.51.100.1', headers, 'forwarded')).toBe('198.51.100.1')
      }),
      { seed: SEED },
    )
  })

  test('an entry of the client before that of its proxy never counts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), claim => {
        expect(addressOf(1, '127.0.0.1', xff(`${claim}, 203.0.113.9`))).toBe('203.0.113.9')
      }),
      { seed: SEED },
    )
  })
})

describe('forwarded (RFC 7239)', () => {
  test.each([
    ['for=203.0.113.9', '203.0.113.9'],
    ['for=8.8.8.8, for=203.0.113.9;proto=https;by=10.0.0.1', '203.0.113.9'],
    ['for="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for=_hidden', '127.0.0.1'],
    ['for=unknown', '127.0.0.1'],
    ['for="', '127.0.0.1'],
    ['proto=https', '127.0.0.1'],
  ])('%s', (text, client) => {
    expect(addressOf(1, '127.0.0.1', { forwarded: text }, 'forwarded')).toBe(client)
  })
})

test('a wrong address of a proxy is refused', () => {
  expect(() => createClientAddress({ proxies: ['10.0.0.0/99'], header: 'forwarded' })).toThrow(TypeError)
})
