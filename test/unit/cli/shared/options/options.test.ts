import { expect, test } from 'vitest'
import { blocksOr, httpUrlOption, originsOption } from '../../../../../src/cli/shared/options/options.ts'
import { trustProxyOption } from '../../../../../src/cli/shared/options/proxy-options.ts'

test('history is at least one block: the state before the head is what a proof or a trace starts from', () => {
  const option = blocksOr('archive')
  expect(option('1')).toBe(1)
  expect(option('archive')).toBe('archive')
  expect(() => option('0')).toThrow('whole number from 1 to')
})

test('an address of JSON-RPC is that of a web server', () => {
  const option = httpUrlOption('http://127.0.0.1:8545')
  for (const url of ['http://127.0.0.1:8545', 'https://node.example/rpc']) expect(option(url)).toBe(url)
  for (const url of ['node.example', 'ws://node.example', 'javascript:alert(1)', ''])
    expect(() => option(url)).toThrow('It must be an http or https URL: http://127.0.0.1:8545.')
})

test.each([
  '*',
  'null',
  'https://app.example',
  'http://localhost:3000',
  'http://[::1]:3000',
  'chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn',
])('%s is an origin of pages', origin => {
  expect(originsOption(`${origin},https://other.example`)).toEqual([origin, 'https://other.example'])
})

test.each(['foo', 'app.example', 'https://', 'https://app.example/', 'https://app.example/path'])(
  '%s is no origin, so no page would ever have it',
  text => {
    expect(() => originsOption(`*,${text}`)).toThrow(`"${text}" is no origin: give SCHEME://HOST[:PORT]`)
  },
)

test('proxies are a number, or addresses and subnets', () => {
  expect(trustProxyOption('2')).toBe(2)
  expect(trustProxyOption('loopback, 10.0.0.0/8,::1')).toEqual(['loopback', '10.0.0.0/8', '::1'])
  expect(() => trustProxyOption('loopback,300.1.1.1')).toThrow('"300.1.1.1" is no address or subnet')
  expect(() => trustProxyOption('10.0.0.0/99')).toThrow('"10.0.0.0/99" is no address or subnet')
})
