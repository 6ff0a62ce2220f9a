import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import {
  advertised,
  nodeIds,
  type PeerFlags,
  peerOptions,
  peersOf,
  peerUrls,
} from '../../../../src/cli/start/peer-options.ts'

const ID = 'ab'.repeat(32)

const parse = (...args: readonly string[]): PeerFlags => {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  for (const option of peerOptions()) command.addOption(option)
  return command.parse(args, { from: 'user' }).opts<PeerFlags>()
}

describe('options of peers', () => {
  test('without any: all addresses, the usual port, discovery', () => {
    expect(peersOf(parse())).toEqual({
      listen: { host: '0.0.0.0', port: 30_333 },
      discovers: true,
      verify: 'tips',
    })
  })

  test('all of them', () => {
    const flags = parse(
      ...['--p2p-host', '127.0.0.1', '--p2p-port', '0', '--advertise', '203.0.113.7:4', '--no-discovery'],
      ...[
        '--peers',
        `tandem://${ID}@10.0.0.1:1,tandem://${ID}@[::1]:2`,
        '--bootnodes',
        `tandem://${ID}@boot.example:3`,
      ],
      ...['--relays', ID, '--verify', 'full'],
    )
    expect(peersOf(flags)).toEqual({
      listen: { host: '127.0.0.1', port: 0 },
      discovers: false,
      advertise: { host: '203.0.113.7', port: 4 },
      staticPeers: [
        { id: ID, host: '10.0.0.1', port: 1 },
        { id: ID, host: '::1', port: 2 },
      ],
      bootnodes: [{ id: ID, host: 'boot.example', port: 3 }],
      relays: [ID],
      verify: 'full',
    })
  })

  test.each([
    ['203.0.113.7', { host: '203.0.113.7' }],
    ['203.0.113.7:30333', { host: '203.0.113.7', port: 30_333 }],
    ['2001:db8::1', { host: '2001:db8::1' }],
    ['[2001:db8::1]', { host: '2001:db8::1' }],
    ['[2001:db8::1]:5', { host: '2001:db8::1', port: 5 }],
  ])('advertised: %s', (text, expected) => {
    expect(advertised(text)).toEqual(expected)
  })

  test.each(['', 'example.org', '203.0.113.7:', '203.0.113.7:0', '203.0.113.7:65536', '[203.0.113.7]:1', '1.2.3:4'])(
    'not advertised: "%s"',
    text => {
      expect(() => advertised(text)).toThrow(/IP address|port is 1 to 65535/)
    },
  )

  test('the fault of a URL or an id is named', () => {
    expect(() => peerUrls('enode://1@2:3')).toThrow(/enode:\/\/1@2:3 is no address of a node: want tandem:\/\//)
    expect(() => peerUrls(`tandem://${ID}@host:0`)).toThrow('the port is 1 to 65535')
    expect(() => nodeIds(`${ID},xyz`)).toThrow('"xyz" is no node id')
  })
})
