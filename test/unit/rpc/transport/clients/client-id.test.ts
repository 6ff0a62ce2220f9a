import { expect, test } from 'vitest'
import { clientIdOf } from '../../../../../src/rpc/transport/clients/client-id.ts'

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
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
