import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { card, copyButton, emptyState, facts } from '@tandem/web/parts.ts'
import { timeOf } from '@tandem/web/times.ts'
import { invalidParameter } from '../../api/api-error.ts'
import { transactionBody, transactionsBody } from '../../api/routes/transactions.ts'
import { splitFee } from '../../chain/rules.ts'
import { TRANSACTION_KINDS, type TransactionKind } from '../../store/records.ts'
import { listQuery } from '../list-query.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRoute } from '../page-route.ts'
import { callTable, inputCard, logList } from '../parts/execution.ts'
import { heading } from '../parts/heading.ts'
import { blockLink, pathTo, reasonText, wholeAddress } from '../parts/links.ts'
import { labelled, labelsOf, partiesOf, partyLink, transactionTable, transferAmount } from '../parts/lists.ts'
import { meter } from '../parts/meter.ts'
import { choice, counted, pager, tabOf, tabs } from '../parts/pager.ts'
import { exactTokens, gwei, statusChip } from '../parts/values.ts'
import { callsOf } from '../trace.ts'

type Transaction = Awaited<ReturnType<typeof transactionBody>>

const KIND_LABELS: Readonly<Record<TransactionKind, string>> = {
  transfer: 'Transfers',
  call: 'Calls',
  create: 'New contracts',
  token: 'Tokens',
}

const filters = (path: string, current: TransactionKind | undefined): Html =>
  html`<nav class="filters" aria-label="Kinds of transactions">${choice(path, 'All', current === undefined)}${TRANSACTION_KINDS.map(
    kind => choice(`${path}?kind=${kind}`, KIND_LABELS[kind], kind === current),
  )}</nav>`

const transactionsPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const kind = TRANSACTION_KINDS.find(name => name === request.query['kind'])
  const list = await transactionsBody(context, { ...listQuery(request), ...(kind && { txType: kind }) })
  const labels = await labelsOf(context, partiesOf(list.items))
  const empty = emptyState('No such transactions yet.', 'They appear here with the block that has them.')
  return {
    title: 'Transactions',
    body: html`${heading('Transactions', { lead: 'Newest first.' })}
${filters(request.path, kind)}
${card('Transactions', html`${transactionTable(list.items, labels, { nowMs: context.nowMs(), symbol: context.site.symbol, empty })}${pager(request, list, 'transaction', '/txs')}`)}`,
  }
}

/** Recipients of a fee with their parts, wei. */
const feeParts = async (
  { source, rules: { tandem } }: PageContext,
  { feeWei, burntWei, blockNumber }: Transaction,
): Promise<readonly (readonly [string, bigint])[]> => {
  const [fee, burnt] = [BigInt(feeWei), BigInt(burntWei)]
  if (tandem === undefined)
    return [
      ['Miner', fee - burnt],
      ['Burnt', burnt],
    ]
  const hasMiner = (await source.header(blockNumber))?.miner !== ZERO_ADDRESS
  const split = splitFee(fee, tandem.feeShares, hasMiner)
  return [
    ['Proposer', split.proposer],
    ['Miner', split.miner],
    ['Foundation', split.foundation],
    ['Burnt', split.burnt],
  ]
}

/** Division of the fee among its recipients. */
const feeSplit = async (context: PageContext, transaction: Transaction): Promise<Html> => {
  const { symbol } = context.site
  const fee = BigInt(transaction.feeWei)
  const parts = await feeParts(context, transaction)
  const share = (part: bigint): number => (fee === 0n ? 0 : Number((part * 1_000n) / fee) / 10)
  return html`${meter(parts.map(([, part]) => share(part)))}
${facts(parts.map(([name, part]) => [name, html`${exactTokens(part, symbol)} <small>${share(part)} %</small>`] as const))}`
}

const failure = ({ status, revertReason }: Transaction): Html | undefined => {
  if (status !== 0) return undefined
  return html`<div class="alert"><strong>The transaction failed; its fee was paid.</strong>${
    revertReason === null
      ? 'Its reason is not known: the node did not execute its block, or ran an older version then.'
      : reasonText(revertReason, 'No reason was given.')
  }</div>`
}

const recipientFact = (
  { to, contractAddress }: Transaction,
  labels: ReadonlyMap<string, string>,
): readonly [string, Fragment] => {
  if (to !== null) return ['To', wholeAddress(to, labels.get(to) ?? null)]
  return ['New contract', contractAddress === null ? 'none: the creation failed' : wholeAddress(contractAddress)]
}

const transferCard = ({ tokenTransfers }: Transaction, labels: ReadonlyMap<string, string>): Html | undefined =>
  tokenTransfers.length === 0
    ? undefined
    : card(
        'Token transfers',
        html`<ol class="rows">${tokenTransfers
          .slice(0, SHOWN)
          .map(
            transfer =>
              html`<li><span>${partyLink(labels, transfer.from, 'minted')} <span class="arrow" aria-hidden="true">→</span><span class="hidden">to</span> ${partyLink(labels, transfer.to, 'burnt')}</span><span class="end">${transferAmount(transfer)}</span></li>`,
          )}</ol>`,
        tokenTransfers.length > SHOWN ? `the first ${SHOWN} of ${formatNumber(tokenTransfers.length)}` : undefined,
      )

const internalCard = (
  { internalTransfers }: Transaction,
  labels: ReadonlyMap<string, string>,
  symbol: string,
): Html | undefined =>
  internalTransfers === null || internalTransfers.length === 0
    ? undefined
    : card(
        'Internal transfers',
        html`<ol class="rows">${internalTransfers
          .slice(0, SHOWN)
          .map(
            ({ type, from, to, value }) =>
              html`<li><span>${labelled(labels, from)} <span class="arrow" aria-hidden="true">→</span><span class="hidden">to</span> ${labelled(labels, to)} <span class="chip">${type}</span></span><span class="end">${exactTokens(value, symbol)}</span></li>`,
          )}</ol>`,
        internalTransfers.length > SHOWN
          ? `the first ${SHOWN} of ${formatNumber(internalTransfers.length)}`
          : 'value that contracts moved',
      )

const authorizationCard = ({ authorizations }: Transaction, labels: ReadonlyMap<string, string>): Html | undefined =>
  authorizations.length === 0
    ? undefined
    : card(
        'Delegations',
        html`<ol class="rows">${authorizations.map(
          ({ authority, address, nonce, chainId }) =>
            html`<li><span>${authority === null ? 'unknown signer' : labelled(labels, authority)} <span class="arrow" aria-hidden="true">→</span><span class="hidden">to</span> ${address === ZERO_ADDRESS ? 'none: ends its delegation' : labelled(labels, address)}</span><span class="end"><small>nonce ${nonce}${chainId === '0' && ', of any chain'}</small></span></li>`,
        )}</ol>`,
        'as signed: one with a used nonce has no effect',
      )

/** Transfers and logs on one page. */
const SHOWN = 100

const overview = async (context: PageContext, transaction: Transaction): Promise<Html> => {
  const { site } = context
  const { from, to, tokenTransfers, blockNumber, type } = transaction
  const labels = await labelsOf(context, [
    from,
    to,
    ...tokenTransfers.slice(0, SHOWN).flatMap(item => [item.from, item.to]),
    ...transaction.authorizations.flatMap(item => [item.authority, item.address]),
    ...(transaction.internalTransfers ?? []).slice(0, SHOWN).flatMap(item => [item.from, item.to]),
  ])
  return html`
${failure(transaction)}
${card(
  'Details',
  facts([
    [
      'Block',
      html`${blockLink(blockNumber)} <small>position ${transaction.transactionIndex}, ${counted(transaction.confirmations, 'confirmation')}</small>`,
    ],
    ['Time', timeOf(transaction.timestamp)],
    ['From', wholeAddress(from, labels.get(from) ?? null)],
    recipientFact(transaction, labels),
    ['Value', exactTokens(transaction.value, site.symbol)],
    ['Fee', exactTokens(transaction.feeWei, site.symbol)],
    [
      'Gas price',
      html`${gwei(transaction.gasPrice)} gwei <small>base fee ${gwei(transaction.baseFeePerGas)} gwei</small>`,
    ],
    [
      'Gas used',
      html`${formatNumber(BigInt(transaction.gasUsed))} <small>of ${formatNumber(BigInt(transaction.gas))}</small>`,
    ],
    ['Nonce', formatNumber(transaction.nonce)],
    ['Type', html`${type} <small>${TYPES[type] ?? ''}</small>`],
  ]),
)}
${authorizationCard(transaction, labels)}
${transferCard(transaction, labels)}
${internalCard(transaction, labels, site.symbol)}
${card('Where the fee goes', await feeSplit(context, transaction))}
${inputCard(transaction)}`
}

const TYPES: Readonly<Record<number, string>> = {
  0: 'legacy',
  1: 'access list',
  2: 'dynamic fee',
  3: 'blobs',
  4: 'set code',
}

const logs = async (_context: PageContext, transaction: Transaction): Promise<Html> => {
  const { logCount } = transaction
  const shown = transaction.logs.slice(0, SHOWN)
  return card(
    'Logs',
    logCount === 0
      ? emptyState('No logs.', 'Contracts write logs to tell of what they did; this transaction wrote none.')
      : logList(shown),
    shown.length < logCount ? `the first ${shown.length} of ${formatNumber(logCount)}` : undefined,
  )
}

const calls = async (context: PageContext, { hash }: Transaction): Promise<Html> => {
  const found = await callsOf(context, hash as Hex)
  return card(
    'Calls between contracts',
    found === undefined
      ? emptyState(
          'This node does not show calls.',
          html`They come from <code>debug_traceTransaction</code>, which it does not serve, or not for so old a block or so long an answer.`,
        )
      : callTable(found.calls, context.site.symbol),
    found?.isCut ? `the first ${found.calls.length}` : undefined,
  )
}

const TABS = ['logs', 'calls'] as const

const transactionPage = async (context: PageContext, request: ExplorerPageRequest): Promise<PageContent> => {
  const hash = request.params['hash'] as string
  if (!/^0x[0-9a-fA-F]{64}$/.test(hash))
    throw invalidParameter('hash', 'A transaction is named by its hash: 0x and 64 hex digits.')
  const transaction = await transactionBody(context, hash.toLowerCase() as Hex)
  const tab = tabOf(request, TABS)
  const parts = { '': overview, logs, calls }
  return {
    title: `Transaction ${transaction.hash.slice(0, 10)}`,
    body: html`
${heading('Transaction', { marks: statusChip(transaction.status), lead: html`<code>${transaction.hash}</code>${copyButton(transaction.hash, 'hash')}` })}
${tabs(pathTo('tx', transaction.hash), tab, [
  { name: '', label: 'Overview' },
  { name: 'logs', label: 'Logs', count: transaction.logCount },
  { name: 'calls', label: 'Calls' },
])}
${await parts[tab as keyof typeof parts](context, transaction)}`,
  }
}

export const transactionPages: readonly PageRoute[] = [
  { path: '/txs', needsIndex: true, render: transactionsPage },
  { path: '/tx/:hash', needsIndex: false, render: transactionPage },
]
