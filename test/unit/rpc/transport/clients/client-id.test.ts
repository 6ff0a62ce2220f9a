import { expect, test } from 'vitest'
import { clientIdOf } from '../../../../../src/rpc/transport/clients/clients.ts'

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::FFFF:10.1.2.3', '10.1.2.3'],
  ['::ffff:a01:203', '10.1.2.3'],
  ['0:0:0:0:0:ffff:10.1.2.3', '10.1.2.3'],
  ['::ffff:0:10.1.2.3', '0:0:0:0'],
  ['64:ff9b::10.1.2.3', '64:ff9b:0:0'],
  ['2001:DB8:1:2:0003:4:5.6.7.8', '2001:db8:1:2'],
  ['1::', '1:0:0:0'],
  ['key:shop', 'key:shop'],
  ['key:::1', 'key:::1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
  [undefined, ''],
])('%s', (address, client) => {
  expect(clientIdOf(address)).toBe(client)
})
