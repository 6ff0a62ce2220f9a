import { isIPv6 } from 'node:net'
import type { Cancellation } from '../../../util/async/cancellation.ts'
import type { Endpoint } from '../../router/method.ts'

/** IPv4-mapped IPv6 address, as a dual-stack socket reports IPv4 clients. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const PREFIX_GROUPS = 4

const prefixOf = (address: string): string => {
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail]
  return groups.slice(0, PREFIX_GROUPS).join(':')
}

/**
 * Returns the client id of an address for shared limits: the IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber.
 */
export const clientIdOf = (address: string | undefined): string => {
  const mapped = MAPPED.exec(address ?? '')?.[1]
  if (mapped !== undefined) return mapped
  return address !== undefined && isIPv6(address) ? prefixOf(address) : (address ?? '')
}

/** Returns the endpoint with the context of a client's connection. */
export const endpointForClient = (
  endpoint: Endpoint,
  address: string | undefined,
  cancellation: Cancellation,
): Endpoint => ({
  methods: endpoint.methods,
  context: { ...endpoint.context, client: clientIdOf(address), cancellation },
})
