import type { Clock } from '@tandem/base/clock.ts'
import { acceptsGzip } from '@tandem/web/negotiation.ts'
import { pageResponse, type WebResponse } from '@tandem/web/response.ts'
import { renderPage } from '@tandem/web/shell.ts'
import type { Site } from '@tandem/web/site.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'
import type { HealthStatus } from '../../../rpc/ports.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import type { DevAccountKey } from '../../options.ts'
import { type NodeFacts, nodeBody } from './node-page-body.ts'

export interface NodePageOptions {
  readonly view: ChainView
  readonly site: Site
  readonly health: () => HealthStatus
  /** Those that the port serves over HTTP. */
  readonly namespaces: readonly string[]
  readonly wsPath: string
  /** True when the port speaks TLS. */
  readonly isSecure: boolean
  /** Funded accounts of a development chain with well-known keys. */
  readonly accounts: readonly DevAccountKey[]
  readonly clock: Pick<Clock, 'nowMs'>
}

export interface NodePageRequest {
  readonly host: string | undefined
  readonly acceptEncoding: string | undefined
}

/** Time for which a rendered page is sent again, so that many requests cost no more than one. */
const KEPT_MS = 1_000
/** Hosts under which pages are kept. */
const KEPT_HOSTS = 16
const HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i

/** The node's own page at `GET /`: the network, the head, and how to connect. */
export const createNodePage = (options: NodePageOptions): ((request: NodePageRequest) => WebResponse) => {
  const kept = new Map<string, { readonly response: WebResponse; readonly atMs: number }>()
  return ({ host, acceptEncoding }) => {
    const name = host !== undefined && HOST.test(host) ? host : 'localhost'
    const key = `${acceptsGzip(acceptEncoding)} ${name}`
    const nowMs = options.clock.nowMs()
    const known = kept.get(key)
    if (known !== undefined && Math.abs(nowMs - known.atMs) < KEPT_MS) return known.response
    const response = pageResponse(nodePage(options, name), { acceptEncoding, cacheControl: 'no-cache' })
    if (kept.size >= KEPT_HOSTS) kept.clear()
    kept.set(key, { response, atMs: nowMs })
    return response
  }
}

const nodePage = (options: NodePageOptions, host: string): string => {
  const { site } = options
  return renderPage({ site, title: 'Node', path: '/', body: nodeBody(factsOf(options, host)) })
}

const factsOf = (
  { view, site, health, namespaces, wsPath, isSecure, accounts, clock }: NodePageOptions,
  host: string,
): NodeFacts => {
  const { header, hash, transactions } = view.head()
  const { params } = view
  return {
    site,
    host,
    isSecure,
    wsPath,
    namespaces,
    chainId: params.chainId,
    blockTimeMs: params.blockTimeMs,
    genesisHash: view.genesisHash,
    head: { number: header.number, hash, transactions: transactions.length, timestamp: header.timestamp },
    gasPriceWei: suggestedGasPrice(view.nextBaseFee(), view.params.baseFee),
    health: health(),
    nowMs: clock.nowMs(),
    accounts: accounts.map(({ address, privateKey }) => ({
      address: checksumAddress(address),
      privateKey,
      balanceWei: view.headState.account(address)?.balance ?? 0n,
    })),
  }
}
