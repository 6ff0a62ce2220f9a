import { CodedError } from '@tandem/base/errors.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import type { NetworkError } from '../core/errors.ts'

const SCHEME = 'tandem://'
const FORM = `${SCHEME}<64 hex digits of the node id>@<host>:<port>`
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]{1,253})$/

/** tandem://<node id>@<host>:<port>; an IPv6 address is in brackets. */
export const peerUrl = ({ id, host, port }: NodeAddress): string =>
  `${SCHEME}${id}@${host.includes(':') ? `[${host}]` : host}:${port}`

/** Parses a peer URL. Throws PEER_URL_INVALID with the reason. */
export const parsePeerUrl = (url: string): NodeAddress => {
  const fail = (reason: string): never => {
    throw new CodedError<NetworkError>({ code: 'PEER_URL_INVALID', url: url.slice(0, 200), reason })
  }
  if (!url.startsWith(SCHEME)) return fail(`want ${FORM}`)
  const [id = '', place = '', more] = url.slice(SCHEME.length).split('@')
  const colon = place.lastIndexOf(':')
  if (more !== undefined || colon < 0) return fail(`want ${FORM}`)
  if (!/^[0-9a-f]{64}$/.test(id)) return fail('the node id is 64 lower-case hex digits')
  const host = place.slice(0, colon)
  const port = Number(place.slice(colon + 1))
  if (!HOST.test(host)) return fail('the host is a name, an IPv4 address, or an IPv6 address in brackets')
  if (!/^\d{1,5}$/.test(place.slice(colon + 1)) || port < 1 || port > 0xffff) return fail('the port is 1 to 65535')
  return { id, host: host.startsWith('[') ? host.slice(1, -1) : host, port }
}
