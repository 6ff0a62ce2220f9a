import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import parseForwarded from 'forwarded-parse'

/** Proxies whose header is believed. */
export interface TrustProxy {
  /** Number of proxies in front of this node, or their addresses and subnets (`loopback`, 10.0.0.0/8). */
  readonly proxies: number | readonly string[]
  /** The one header they set; the other one may come from the client, through them. */
  readonly header: 'x-forwarded-for' | 'forwarded'
}

/** Parts of a request that tell its origin. */
interface ProxiedRequest {
  readonly headers: IncomingMessage['headers']
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** Longest header that is read. */
const HEADER_CHARS = 4_096

/** Address of the client of a request, as far as trusted proxies tell it. Throws TypeError for an invalid address or subnet. */
export const createClientAddress = ({ proxies, header }: TrustProxy) => {
  /** Returns true for the proxy that is `hop` hops away; 0 is the other end of the connection. */
  const trust: (address: string, hop: number) => boolean =
    typeof proxies === 'number' ? (_, hop) => hop < proxies : proxyAddr.compile([...proxies])

  /** Returns the addresses in the header, that of the client first. */
  const claimed = (headers: IncomingMessage['headers']): readonly string[] => {
    const text = headers[header]
    // Repeated lines of these headers are joined by Node.
    if (typeof text !== 'string' || text.length > HEADER_CHARS) return []
    if (header === 'x-forwarded-for') return text.split(',')
    try {
      return parseForwarded(text).map(element => element['for'] ?? '')
    } catch {
      return []
    }
  }

  return {
    /** Returns true when connections from this address are those of a proxy, which speaks for many clients. */
    isProxy: (address: string | undefined): boolean => trust(address ?? '', 0),

    /** Returns the first untrusted address from the connection outwards; what is no address ends the search at the proxy that wrote it. */
    of({ socket, headers }: ProxiedRequest): string {
      let address = socket.remoteAddress ?? ''
      if (!trust(address, 0)) return address
      for (const [index, entry] of claimed(headers).toReversed().entries()) {
        const next = plainAddress(entry)
        if (next === undefined) return address
        address = next
        if (!trust(address, index + 1)) return address
      }
      return address
    },
  }
}

/** Returns an address without port and brackets; undefined for anything else, such as `unknown`. */
const plainAddress = (entry: string): string | undefined => {
  const text = entry.trim()
  const bracketed = /^\[([0-9a-fA-F:.]{2,45})\](?::\d{1,5})?$/.exec(text)?.[1]
  const withoutPort = bracketed ?? (/^[0-9.]{7,15}:\d{1,5}$/.test(text) ? text.slice(0, text.indexOf(':')) : text)
  return isIP(withoutPort) === 0 ? undefined : withoutPort
}
