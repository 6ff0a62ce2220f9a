import { NAMESPACES, type NetworkName } from '../../../src/config/networks.ts'
import type { Answer } from '../../support/rpc/rig.ts'
import { Socket } from '../../support/rpc/socket.ts'
import { interfaceRows } from './rows.ts'

type Transport = 'HTTP' | 'WebSocket' | 'operator port'

/** One port of a node as a client sees it. */
export interface Endpoint {
  readonly network: NetworkName
  readonly transport: Transport
  /** As docs/interface.md#namespaces names it. */
  readonly name: string
  readonly url: string
  /** Namespaces by docs/interface.md#namespaces. */
  serves(method: string): boolean
  ask(method: string, params?: readonly unknown[]): Promise<Answer>
}

/** Namespaces of a row of docs/interface.md#namespaces. */
export const namespacesOf = (name: string): readonly string[] | 'all' => {
  const row = interfaceRows().find(({ section, key }) => section === 'Namespaces' && key === name)
  if (row === undefined) throw new Error(`docs/interface.md names no endpoint ${name}`)
  const { namespaces = '' } = row.cells
  if (namespaces === 'all') return 'all'
  const [, missing] = /^all but (.+)$/.exec(namespaces) ?? []
  return missing === undefined
    ? namespaces.split(', ')
    : NAMESPACES.filter(namespace => !missing.split(', ').includes(namespace))
}

/** Posts a request and returns the answer's status, type and body. */
export const post = async (
  url: string,
  body: string,
  type = 'application/json',
): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
  return { status: response.status, text: await response.text() }
}

const overHttp =
  (url: string) =>
  async (method: string, params: readonly unknown[] = []): Promise<Answer> =>
    JSON.parse((await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text) as Answer

const endpoint = (network: NetworkName, transport: Transport, url: string, ask: Endpoint['ask']): Endpoint => {
  const name = transport === 'operator port' ? transport : `${network} ${transport}`
  const namespaces = namespacesOf(name)
  return {
    network,
    transport,
    name,
    url,
    ask,
    serves: method => namespaces === 'all' || namespaces.includes(method.slice(0, method.search(/[_.]/))),
  }
}

export const httpEndpoint = (
  network: NetworkName,
  url: string,
  transport: 'HTTP' | 'operator port' = 'HTTP',
): Endpoint => endpoint(network, transport, url, overHttp(url))

/** Keeps one connection for all requests; `close` ends it. */
export const socketEndpoint = async (
  network: NetworkName,
  url: string,
): Promise<Endpoint & { readonly socket: Socket }> => {
  const socket = await Socket.open(url)
  return { ...endpoint(network, 'WebSocket', url, (method, params = []) => socket.call(method, params)), socket }
}

/** `code message` of an error answer, or the result. */
export const outcomeOf = ({ error, result }: Answer): string =>
  error === undefined ? `result ${JSON.stringify(result)?.slice(0, 1_000)}` : `${error.code} ${error.message}`
