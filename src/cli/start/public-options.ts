import { Option } from 'commander'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { FILE_LIMITS } from '../../config/limits/commands.ts'
import type { Namespace } from '../../config/networks.ts'
import type { NodeOptions, PublicPortOptions } from '../../node/options.ts'
import { readSecret } from '../shared/files.ts'
import { integerOption, namespacesOption } from '../shared/options/options.ts'
import { type ProxyFlags, proxyOptions, trustProxyOf } from '../shared/options/proxy-options.ts'

export interface PublicFlags extends ProxyFlags {
  readonly jwtSecret?: string
  readonly apiKeys?: string
  readonly wsPerClient?: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly compression: boolean
  readonly httpApi?: readonly Namespace[]
  readonly wsApi?: readonly Namespace[]
}

/** Options of the public port behind a proxy or without one (docs/public-node.md). */
export const publicOptions = (): readonly Option[] => [
  ...proxyOptions('proxies in front of the public port'),
  new Option(
    '--jwt-secret <file>',
    'calls of the public port need a token over this secret of 32 bytes in hex (HS256)',
  ),
  new Option('--api-keys <file>', 'keys of clients with limits of their own: a line has NAME KEY CALLS-PER-SECOND'),
  new Option(
    '--ws-per-client <number>',
    `most WebSocket connections of one client (default: ${RPC_LIMITS.budgets.sockets.client})`,
  ).argParser(integerOption(1, 1_000_000)),
  new Option('--tls-cert <file>', 'certificate chain (PEM) of the public port; read again when it changes'),
  new Option('--tls-key <file>', 'private key (PEM) of the certificate'),
  new Option('--compression', 'compress responses of the public port (gzip), where no proxy does').default(false),
  new Option('--http-api <namespaces>', 'comma-separated namespaces over HTTP, of those the network allows').argParser(
    namespacesOption,
  ),
  new Option(
    '--ws-api <namespaces>',
    'comma-separated namespaces over WebSocket, of those the network allows',
  ).argParser(namespacesOption),
]

/** Reads the files that the flags name. Throws an error that names the option. */
export const publicPortOf = (flags: PublicFlags): PublicPortOptions => {
  const { jwtSecret, apiKeys, wsPerClient, tlsCert, tlsKey, compression } = flags
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw new Error('--tls-cert and --tls-key belong together.')
  return {
    compression,
    ...trustProxyOf(flags),
    ...(jwtSecret !== undefined && { jwtSecret: secretFrom(jwtSecret) }),
    ...(apiKeys !== undefined && { apiKeys: apiKeysFrom(apiKeys) }),
    ...(wsPerClient !== undefined && { socketsPerClient: wsPerClient }),
    ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { certFile: tlsCert, keyFile: tlsKey } }),
  }
}

const secretFrom = (file: string): Uint8Array => {
  const text = readSecret(file, '--jwt-secret').trim().replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new Error(`--jwt-secret: ${file} does not hold 64 hex digits. Make some with "openssl rand -hex 32".`)
  return new Uint8Array(Buffer.from(text, 'hex'))
}

const apiKeysFrom = (file: string): NonNullable<PublicPortOptions['apiKeys']> => {
  const lines = readSecret(file, '--api-keys', FILE_LIMITS.listBytes).split(/\r?\n/)
  return lines.flatMap((line, index) => {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) return []
    const [name = '', key = '', perSecond = '', more] = text.split(/\s+/)
    if (more !== undefined || key.length < 16 || !/^[1-9]\d{0,5}$/.test(perSecond))
      throw new Error(
        `--api-keys: line ${index + 1} of ${file} is not NAME KEY CALLS-PER-SECOND with a key of 16 characters.`,
      )
    return [{ name, key, perSecond: Number(perSecond) }]
  })
}

/** Returns the namespaces of both transports. Throws for one that the network does not allow there. */
export const publicNamespacesOf = (
  { httpApi, wsApi }: PublicFlags,
  { params }: Genesis,
): Pick<NodeOptions, 'namespaces'> => {
  if (httpApi === undefined && wsApi === undefined) return {}
  const check = (option: string, names: readonly Namespace[] | undefined, allowed: readonly Namespace[]) => {
    const wrong = names?.find(name => !allowed.includes(name))
    if (wrong === undefined) return names ?? allowed
    throw new Error(`${option}: ${params.name} does not allow "${wrong}" there, only ${allowed.join(', ')}.`)
  }
  const { http, ws } = params.namespaces
  return { namespaces: { http: check('--http-api', httpApi, http), ws: check('--ws-api', wsApi, ws) } }
}
