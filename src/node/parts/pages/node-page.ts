import type { Clock } from '@tandem/base/clock.ts'
import { formatAmount, formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { acceptsGzip } from '@tandem/web/negotiation.ts'
import { card, codeBox, copyButton, emptyState, facts, figures } from '@tandem/web/parts.ts'
import { pageResponse, type WebResponse } from '@tandem/web/response.ts'
import { renderPage } from '@tandem/web/shell.ts'
import { FAUCET_PATH, type Site } from '@tandem/web/site.ts'
import { ageOf, timeOf } from '@tandem/web/times.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { checksumAddress } from '../../../crypto/checksum.ts'
import type { HealthStatus } from '../../../rpc/ports.ts'
import type { NodePages } from '../../../rpc/transport/http/routes.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import type { DevAccountKey } from '../../options.ts'

interface NodePageOptions {
  readonly view: ChainView
  readonly site: Site
  readonly health: () => HealthStatus
  /** Namespaces that the port serves over HTTP. */
  readonly namespaces: readonly string[]
  readonly wsPath: string
  /** True when the port speaks TLS. */
  readonly isSecure: boolean
  /** Funded accounts of a development chain with well-known keys. */
  readonly accounts: readonly DevAccountKey[]
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Time for which a rendered page is sent again, so that many requests cost no more than one. */
const KEPT_MS = 1_000
/** Hosts under which pages are kept. */
const KEPT_HOSTS = 16
const HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i

/** The node's own page at `GET /`: the network, the head, and how to connect. */
export const createNodePage = (
  options: NodePageOptions,
): ((...args: Parameters<NodePages['front']>) => WebResponse) => {
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

/** Facts of the moment; `host`: name and port under which the client reached the node. */
const factsOf = ({ view, health, accounts, clock, ...options }: NodePageOptions, host: string) => {
  const { header, hash, transactions } = view.head()
  const { params } = view
  return {
    ...options,
    host,
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

/** Content of the node's own page. */
type NodeFacts = ReturnType<typeof factsOf>

const GWEI_DECIMALS = 9
const TOKEN_DECIMALS = 18

const purpose = ({ site, blockTimeMs }: NodeFacts): Html => html`
<div class="hero title">
<div class="line"><h1>Tandem node on ${site.network}</h1></div>
<p class="lead">This address speaks the JSON-RPC of Ethereum: point a wallet, a library or a tool at it. Blocks ${blockTimeMs === 0 ? 'are made at once for each transaction' : html`come every ${blockTimeMs / 1_000} s`} and are final as soon as they are there.</p>
</div>`

const state = ({ head, site, health, gasPriceWei, nowMs }: NodeFacts): Html =>
  figures([
    [
      'Head',
      site.explorerUrl
        ? html`<a href="${site.explorerUrl}/block/${head.number}">${formatNumber(head.number)}</a>`
        : formatNumber(head.number),
      ageOf(head.timestamp, nowMs),
    ],
    [
      'Status',
      health.healthy ? html`<span class="chip good">healthy</span>` : html`<span class="chip bad">not healthy</span>`,
      health.reason ?? health.mode,
    ],
    ['Peers', formatNumber(health.peers ?? 0)],
    ['Gas price', formatAmount(gasPriceWei, GWEI_DECIMALS), 'gwei'],
  ])

/** Text of code with a button to copy it. */
const sample = (title: string, text: string, note?: Fragment): Html => html`
<div class="list"><div class="card-head"><h3>${title}</h3>${copyButton(text, title)}</div>${codeBox(text, title)}${note !== undefined && html`<small>${note}</small>`}</div>`

const connect = ({ site, host, isSecure, wsPath, chainId, namespaces }: NodeFacts): Html => {
  const secure = isSecure ? 's' : ''
  const url = `http${secure}://${host}`
  const wsUrl = `ws${secure}://${host}${wsPath}`
  const call = `curl ${url} -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`
  return html`<div data-origin="${url}">${card(
    'Connect',
    html`
${facts([
  ['HTTP', html`<span class="copyable"><code>${url}</code>${copyButton(url, 'HTTP address')}</span>`],
  ['WebSocket', html`<span class="copyable"><code>${wsUrl}</code>${copyButton(wsUrl, 'WebSocket address')}</span>`],
  [
    'Chain id',
    html`<span class="copyable"><code>${chainId}</code>${copyButton(String(chainId), 'chain id')}</span> <small>0x${chainId.toString(16)}</small>`,
  ],
  ['Currency', site.symbol],
  ['Namespaces', namespaces.join(', ')],
])}
${sample('From a shell', call)}
${sample('With viem', `createPublicClient({ transport: http('${url}') })`)}`,
  )}</div>`
}

const chain = ({ head, genesisHash, site }: NodeFacts): Html =>
  card(
    'Chain',
    facts([
      [
        'Newest block',
        html`<span class="copyable"><code>${head.hash}</code>${copyButton(head.hash, 'hash of the newest block')}</span>`,
      ],
      ['Its time', timeOf(head.timestamp)],
      ['Its transactions', formatNumber(head.transactions)],
      [
        'Genesis',
        html`<span class="copyable"><code>${genesisHash}</code>${copyButton(genesisHash, 'hash of genesis')}</span>`,
      ],
      ['Software', `Tandem ${site.version}`],
    ]),
  )

const services = ({ site }: NodeFacts): Html =>
  card(
    'Pages of this node',
    site.explorerUrl || site.faucet
      ? html`<ul class="list">
${
  site.explorerUrl &&
  html`<li><a href="${site.explorerUrl}">Explorer</a> <small>blocks, transactions, addresses, tokens, validators, statistics</small></li>
<li><a href="${site.explorerUrl}/network">Add this network to a wallet</a></li>
<li><a href="${site.explorerUrl}/api">REST API of the explorer</a></li>`
}
${site.faucet && html`<li><a href="${FAUCET_PATH}">Faucet</a> <small>test tokens</small></li>`}
<li><a href="/health">Health</a> <small>JSON for monitoring</small></li>
</ul>`
      : emptyState(
          'This node serves no explorer.',
          html`Its operator can start it with <code>--explorer</code>. JSON-RPC works as described here, and <a href="/health">health</a> is served for monitoring.`,
        ),
  )

const accountRow = (site: Site, { address, privateKey, balanceWei }: NodeFacts['accounts'][number]): Html => html`
<tr>
<td data-label="Address"><span class="copyable">${site.explorerUrl ? html`<a href="${site.explorerUrl}/address/${address}"><code>${address}</code></a>` : html`<code>${address}</code>`}${copyButton(address, 'address')}</span></td>
<td data-label="Balance" class="number">${formatAmount(balanceWei, TOKEN_DECIMALS)} ${site.symbol}</td>
<td data-label="Private key"><span class="copyable"><code>${privateKey.slice(0, 10)}…${privateKey.slice(-6)}</code>${copyButton(privateKey, 'private key')}</span></td>
</tr>`

const accountTable = ({ accounts, site }: NodeFacts): Html | undefined =>
  accounts.length === 0
    ? undefined
    : card(
        'Funded accounts',
        html`<table class="cards"><caption class="hidden">Funded accounts of this development chain</caption>
<thead><tr><th scope="col">Address</th><th scope="col" class="number">Balance</th><th scope="col">Private key</th></tr></thead>
<tbody>${accounts.map(account => accountRow(site, account))}</tbody></table>`,
        'Everybody knows these keys: never use them on a public network.',
      )

/** Content of the node's own page. */
const nodeBody = (node: NodeFacts): Html => html`
${purpose(node)}
${state(node)}
<div class="columns">${connect(node)}<div class="stack">${services(node)}${chain(node)}</div></div>
${accountTable(node)}`
