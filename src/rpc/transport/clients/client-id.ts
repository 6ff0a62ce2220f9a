import { subscriberOf } from '@tandem/base/address.ts'
import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import type { Endpoint } from '../../router/method.ts'

/**
 * Returns the client id of an address for shared limits: the IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber.
 */
export const clientIdOf = (address: string | undefined): string => subscriberOf(address ?? '')

/** Returns the endpoint with the context of a connection of a client, by its id. */
export const endpointForClient = (endpoint: Endpoint, client: string, cancellation: Cancellation): Endpoint => ({
  methods: endpoint.methods,
  context: { ...endpoint.context, client, cancellation },
})
