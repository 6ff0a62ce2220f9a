import { addressGroup, isLoopbackAddress, isUnspecifiedAddress } from '@tandem/base/address.ts'
import { describe, expect, test } from 'vitest'

describe('addresses', () => {
  test.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group)
  })
  test('of the loopback are known', () => {
    const loopback = ['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', '::0001', '::1%lo', 'localhost']
    const mapped = ['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:127.9.9.9']
    expect([...loopback, ...mapped].filter(address => !isLoopbackAddress(address))).toEqual([])
    const others = ['128.0.0.1', '::2', '1::1', '::ffff:1.2.3.4', '0.0.0.0', '::', '', '127.example.org']
    expect(others.filter(isLoopbackAddress)).toEqual([])
  })
  test('that are none to connect to are known', () => {
    const unspecified = ['0.0.0.0', '::', '::0', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0', '::ffff:0:0']
    expect(unspecified.filter(address => !isUnspecifiedAddress(address))).toEqual([])
    expect(['127.0.0.1', '::1', '1.2.3.4', 'localhost', ''].filter(isUnspecifiedAddress)).toEqual([])
  })
})
