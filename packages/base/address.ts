import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Returns the eight groups of an IPv6 address in any of its spellings (RFC 4291 2.2), without its zone; undefined for anything else. */
const groupsOf = (address: string): readonly number[] | undefined => {
  if (!address.includes(':') || !isIPv6(address)) return undefined
  const [plain = ''] = address.split('%', 1)
  const [front = '', back] = plain.split('::')
  const head = groupsIn(front)
  const tail = groupsIn(back ?? '')
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** The last two groups may be written as an IPv4 address. */
const groupsIn = (text: string): readonly number[] =>
  text === '' ? [] : text.split(':').flatMap(part => (isIPv4(part) ? wordsOf(part) : [Number.parseInt(part, 16)]))

const wordsOf = (ipv4: string): readonly number[] => {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** Returns the IPv4 address that is mapped into IPv6 (::ffff:1.2.3.4, as dual-stack sockets report it, or ::ffff:102:304); or undefined. */
const mappedIn = (groups: readonly number[]): string | undefined => {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every(group => group === 0)
  return isMapped ? `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}` : undefined
}

/** Returns the first four groups of an IPv6 address, those of the /64: the usual allocation of one subscriber. */
const prefixOf = (groups: readonly number[]): string =>
  groups
    .slice(0, 4)
    .map(group => group.toString(16))
    .join(':')

/**
 * Returns what counts as one subscriber: an IPv4 address, also when mapped into IPv6, or the /64 of an IPv6 address, the same for all of
 * its spellings. Anything else stands for itself.
 */
export const subscriberOf = (address: string): string => {
  const groups = groupsOf(address)
  return groups === undefined ? address : (mappedIn(groups) ?? prefixOf(groups))
}

/**
 * Returns the beginnings that the subscribers of a /24 and of a /16 have in common with this one, or of a /48 and of a /32 in IPv6; undefined for
 * anything that `subscriberOf` does not return for an address.
 */
export const wideGroupsOf = (subscriber: string): { readonly narrow: string; readonly wide: string } | undefined => {
  const mark = isIPv4(subscriber) ? '.' : ':'
  const parts = subscriber.split(mark)
  if (parts.length !== 4) return undefined
  const [a, b, c] = parts
  return { narrow: `${a}${mark}${b}${mark}${c}${mark}`, wide: `${a}${mark}${b}${mark}` }
}

/** Returns the subscriber as peer slots and bans name it: `1.2.3.4` or `2001:db8:1:2::/64`. */
export const addressGroup = (address: string): string => {
  const groups = groupsOf(address)
  return groups === undefined ? address : (mappedIn(groups) ?? `${prefixOf(groups)}::/64`)
}

/** Returns true for an address to listen at that is no address to connect to. */
export const isUnspecifiedAddress = (address: string): boolean => {
  const groups = groupsOf(address)
  return groups === undefined
    ? address === '0.0.0.0'
    : groups.every(group => group === 0) || mappedIn(groups) === '0.0.0.0'
}

export const isLoopbackAddress = (address: string): boolean => {
  const groups = groupsOf(address)
  if (groups === undefined) return address === 'localhost' || (isIPv4(address) && address.startsWith('127.'))
  return groups.every((group, at) => group === (at === 7 ? 1 : 0)) || mappedIn(groups)?.startsWith('127.') === true
}

const listOf = (
  ipv4: readonly (readonly [string, number])[],
  ipv6: readonly (readonly [string, number])[],
): BlockList => {
  const list = new BlockList()
  for (const [address, bits] of ipv4) list.addSubnet(address, bits, 'ipv4')
  for (const [address, bits] of ipv6) list.addSubnet(address, bits, 'ipv6')
  return list
}

/** Addresses of no single node elsewhere: unspecified, link-local (among them the metadata services of clouds), multicast, reserved. */
const UNREACHABLE = listOf(
  [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 3],
  ],
  [
    ['::', 96],
    // Translated into IPv4, or tunnelled to it: to any address, also to a private one.
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['2002::', 16],
    ['fe80::', 10],
    ['ff00::', 8],
  ],
)
const PRIVATE = listOf(
  [
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
  ],
  [['fc00::', 7]],
)

/** Reach of an address: from anywhere, from its private network, from this machine, or from nowhere. */
export const scopeOf = (address: string): 'global' | 'private' | 'loopback' | 'none' => {
  if (isLoopbackAddress(address)) return 'loopback'
  const [plain = ''] = address.split('%', 1)
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) ? 'ipv6' : undefined
  if (family === undefined || UNREACHABLE.check(plain, family)) return 'none'
  return PRIVATE.check(plain, family) ? 'private' : 'global'
}
