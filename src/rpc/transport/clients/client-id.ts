import { isIPv6 } from 'node:net'
import { plainAddress, subscriberPrefix } from '../../../util/address.ts'
import type { Cancellation } from '../../../util/async/cancellation.ts'
import type { Endpoint } from '../../router/method.ts'

/**
 * Returns the client id of an address for shared limits: the IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber.
 */
export const clientIdOf = (address: string | undefined): string => {
  const plain = plainAddress(address ?? '')
  return isIPv6(plain) ? subscriberPrefix(plain) : plain
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
