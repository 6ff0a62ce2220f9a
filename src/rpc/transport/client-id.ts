import { isIPv6 } from 'node:net'
import type { Endpoint } from '../router/router.ts'

/** IPv4 inside IPv6, as a socket that listens on both names it. */
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

/** Whom a connection comes from, where clients share something: its IPv4 address, or the /64 of an IPv6 one, which is one subscriber's. */
export const clientIdOf = (address: string | undefined): string => {
  const mapped = MAPPED.exec(address ?? '')?.[1]
  if (mapped !== undefined) return mapped
  return address !== undefined && isIPv6(address) ? prefixOf(address) : (address ?? '')
}

/** The endpoint as this client's handlers see it. */
export const endpointForClient = (endpoint: Endpoint, address: string | undefined): Endpoint => ({
  methods: endpoint.methods,
  context: { ...endpoint.context, client: clientIdOf(address) },
})
