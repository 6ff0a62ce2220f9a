import { isIP } from 'node:net'
import { defined } from '@tandem/base/defined.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { InvalidArgumentError, Option } from 'commander'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { NodeAddress } from '../../network/core/dial-scheduler.ts'
import { parsePeerUrl } from '../../network/identity/peer-url.ts'
import type { PeerOptions } from '../../node/options.ts'
import { explainError } from '../shared/explain-error.ts'
import { listOption, portOption } from '../shared/options/options.ts'

export interface PeerFlags {
  readonly p2pHost: string
  readonly p2pPort: number
  readonly advertise?: NonNullable<PeerOptions['advertise']>
  readonly peers?: readonly NodeAddress[]
  readonly bootnodes?: readonly NodeAddress[]
  readonly relays?: readonly string[]
  readonly discovery: boolean
  readonly verify: NonNullable<PeerOptions['verify']>
}

/** Addresses of nodes, comma-separated. */
export const peerUrls = (text: string): readonly NodeAddress[] => {
  try {
    return listOption(text).map(parsePeerUrl)
  } catch (error) {
    if (isCoded(error)) throw new InvalidArgumentError(explainError(error.detail))
    throw error
  }
}

/** HOST or HOST:PORT; an IPv6 address with a port is in brackets. */
export const advertised = (text: string): NonNullable<PeerOptions['advertise']> => {
  if (isIP(text) !== 0) return { host: text }
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15}))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  if (isIP(host) === 0 || (bracketed !== undefined && isIP(host) !== 6))
    throw new InvalidArgumentError('It must be an IP address, with or without a port: 203.0.113.7:30333.')
  if (digits === undefined) return { host }
  const number = Number(digits)
  if (number < 1 || number > 65_535) throw new InvalidArgumentError('The port is 1 to 65535.')
  return { host, port: number }
}

export const nodeIds = (text: string): readonly string[] => {
  const ids = listOption(text)
  const wrong = ids.find(id => !/^[0-9a-f]{64}$/.test(id))
  if (wrong !== undefined)
    throw new InvalidArgumentError(`"${wrong.slice(0, 80)}" is no node id: 64 lower-case hex digits, as in its URL.`)
  return ids
}

/** Options of the peer-to-peer network. */
export const peerOptions = (): readonly Option[] => [
  new Option('--p2p-host <address>', 'address to take peers at').default('0.0.0.0'),
  new Option('--p2p-port <number>', 'port for peers; 0 picks a free one')
    .argParser(portOption)
    .default(NETWORK_LIMITS.defaultPort),
  new Option(
    '--advertise <host[:port]>',
    'IP address, and port, under which others reach this node; needed where it listens on all addresses',
  ).argParser(advertised),
  new Option(
    '--peers <urls>',
    'comma-separated tandem://ID@HOST:PORT of nodes to stay connected to, in reserved places',
  ).argParser(peerUrls),
  new Option('--bootnodes <urls>', 'comma-separated tandem://ID@HOST:PORT of nodes to begin with').argParser(peerUrls),
  new Option(
    '--no-discovery',
    'dial only --peers, request no other addresses, and do not publish the address of this node',
  ),
  new Option(
    '--relays <ids>',
    'comma-separated ids of nodes that relay votes for this validator, or of further sentries behind a sentry',
  ).argParser(nodeIds),
  new Option(
    '--verify <what>',
    'certificates to check of blocks that are caught up: the last of each range and committee, which prove the others, or all',
  )
    .choices(['tips', 'full'])
    .default('tips'),
]

export const peersOf = (flags: PeerFlags): PeerOptions => ({
  listen: { host: flags.p2pHost, port: flags.p2pPort },
  discovers: flags.discovery,
  verify: flags.verify,
  ...defined({
    advertise: flags.advertise,
    staticPeers: flags.peers,
    bootnodes: flags.bootnodes,
    relays: flags.relays,
  }),
})
