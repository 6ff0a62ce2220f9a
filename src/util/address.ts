/**
 * Group of addresses that counts as one for peer slots and bans: an IPv4 address, also when mapped into IPv6, or the /64 of an
 * IPv6 address, the usual allocation of one customer.
 */
export const addressGroup = (address: string): string => {
  const plain = plainAddress(address)
  return plain.includes(':') ? `${subscriberPrefix(plain)}::/64` : plain
}

/** Returns the first four groups of an IPv6 address: those of the /64, without zeros in front. */
export const subscriberPrefix = (address: string): string => {
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...new Array<string>(zeros).fill('0'), ...back]
  return groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** Returns the IPv4 address that a dual-stack socket reports as ::ffff:1.2.3.4; any other address as it is. */
export const plainAddress = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? address
}

/** Returns true for an address to listen at that is no address to connect to. */
export const isUnspecifiedAddress = (address: string): boolean => address === '0.0.0.0' || address === '::'

export const isLoopbackAddress = (address: string): boolean => {
  const plain = plainAddress(address)
  return plain === '::1' || plain === 'localhost' || plain.startsWith('127.')
}
