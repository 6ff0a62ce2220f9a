import { formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { emptyState } from '@tandem/web/parts.ts'
import { ageOf } from '@tandem/web/times.ts'
import type { blockItem } from '../../api/routes/blocks.ts'
import type { transactionItem } from '../../api/routes/transactions.ts'
import type { movementBody, TransferItem } from '../../api/routes/transfers.ts'
import type { PageContext } from '../page-route.ts'
import { addressLink, blockLink, pathTo, tokenLink, transactionLink } from './links.ts'
import { counted } from './pager.ts'
import { type Column, table } from './table.ts'
import { gwei, statusChip, tokenAmount, tokenId, tokens } from './values.ts'

type BlockItem = ReturnType<typeof blockItem>
type TransactionItem = ReturnType<typeof transactionItem>

type Labels = ReadonlyMap<string, string>

/** Labels of the addresses of a page; an address is asked for once. */
export const labelsOf = async (
  { index }: Pick<PageContext, 'index'>,
  addresses: readonly (string | null)[],
): Promise<Labels> => {
  const wanted = [...new Set(addresses.filter(address => address !== null))]
  const found = await Promise.all(wanted.map(address => index.label(address.toLowerCase() as `0x${string}`)))
  return new Map(wanted.flatMap((address, at) => (found[at] === undefined ? [] : [[address, found[at]]])))
}

export const labelled = (labels: Labels, address: string): Html => addressLink(address, labels.get(address) ?? null)

const ZERO = '0x0000000000000000000000000000000000000000'

/** The beneficiary of a block; none before the first proof header. */
export const minerLink = (labels: Labels, miner: string): Fragment =>
  miner === ZERO ? html`<span class="arrow">none</span>` : labelled(labels, miner)

export const blockTable = (blocks: readonly BlockItem[], labels: Labels, nowMs: number): Html => {
  const columns: readonly Column<BlockItem>[] = [
    { title: 'Block', cell: ({ number }) => blockLink(number) },
    { title: 'Age', cell: ({ timestamp }) => ageOf(timestamp, nowMs) },
    { title: 'Transactions', isNumber: true, cell: ({ transactionCount }) => formatNumber(transactionCount) },
    { title: 'Gas used', isNumber: true, cell: ({ gasUsed }) => formatNumber(BigInt(gasUsed)) },
    { title: 'Base fee', isNumber: true, cell: ({ baseFeePerGas }) => `${gwei(baseFeePerGas)} gwei` },
    { title: 'Proposer', cell: ({ proposer }) => labelled(labels, proposer) },
    { title: 'Miner', cell: ({ miner }) => minerLink(labels, miner) },
  ]
  return table('Blocks, newest first', columns, blocks, emptyState('No blocks yet.', 'The chain has only begun.'))
}

/** The function that a transaction calls, or its kind. */
const methodChip = ({ method, methodId, txType }: TransactionItem): Html =>
  html`<span class="chip">${method ?? (txType === 'transfer' || txType === 'create' ? txType : (methodId ?? txType))}</span>`

const recipient = ({ to, contractAddress }: TransactionItem, labels: Labels): Html => {
  if (to !== null) return labelled(labels, to)
  return contractAddress === null
    ? html`<span class="arrow">no contract</span>`
    : html`${addressLink(contractAddress)} <span class="chip">new</span>`
}

export const transactionTable = (
  items: readonly TransactionItem[],
  labels: Labels,
  { nowMs, symbol, empty }: { readonly nowMs: number; readonly symbol: string; readonly empty: Html },
): Html => {
  const columns: readonly Column<TransactionItem>[] = [
    {
      title: 'Transaction',
      cell: item => html`${transactionLink(item.hash)}${item.status === 0 && html` ${statusChip(0)}`}`,
    },
    { title: 'Method', cell: methodChip },
    { title: 'Block', cell: ({ blockNumber }) => blockLink(blockNumber) },
    { title: 'Age', cell: ({ timestamp }) => ageOf(timestamp, nowMs) },
    { title: 'From', cell: ({ from }) => labelled(labels, from) },
    { title: 'To', cell: item => recipient(item, labels) },
    { title: 'Value', isNumber: true, cell: ({ value }) => `${tokens(value)} ${symbol}` },
    { title: 'Fee', isNumber: true, cell: ({ feeWei }) => tokens(feeWei) },
  ]
  return table('Transactions, newest first', columns, items, empty)
}

/** Senders and recipients of transactions or transfers. */
export const partiesOf = (items: readonly Pick<TransactionItem, 'from' | 'to'>[]): readonly (string | null)[] =>
  items.flatMap(({ from, to }) => [from, to])

export const producersOf = (blocks: readonly BlockItem[]): readonly string[] =>
  blocks.flatMap(({ proposer, miner }) => [proposer, miner])

/** Amount, token and unit of a transfer. */
export const transferAmount = ({ amount, token, tokenId: id, standard }: ReturnType<typeof movementBody>): Html =>
  html`${standard === 'ERC-721' ? null : tokenAmount(amount, token.decimals)} ${tokenLink(token)}${tokenId(id)}`

export const transferTable = (items: readonly TransferItem[], labels: Labels, nowMs: number, empty: Html): Html => {
  const columns: readonly Column<TransferItem>[] = [
    { title: 'Transaction', cell: ({ transactionHash }) => transactionLink(transactionHash) },
    { title: 'Age', cell: ({ timestamp }) => ageOf(timestamp, nowMs) },
    { title: 'From', cell: ({ from }) => partyLink(labels, from, 'minted') },
    { title: 'To', cell: ({ to }) => partyLink(labels, to, 'burnt') },
    { title: 'Amount', isNumber: true, cell: transferAmount },
  ]
  return table('Token transfers, newest first', columns, items, empty)
}

/** A party of a transfer: the zero address stands for units that came into being or ceased to be. */
export const partyLink = (labels: Labels, address: string, zero: string): Fragment =>
  address === ZERO ? html`<span class="chip">${zero}</span>` : labelled(labels, address)

/** Rows of the live list of blocks. */
export const blockRows = (blocks: readonly BlockItem[], labels: Labels, nowMs: number): Html =>
  html`${blocks.map(
    ({ number, hash, timestamp, transactionCount, gasUsed, gasLimit, proposer }) => html`
<li data-key="${hash}"><span><a href="${pathTo('block', number)}"><strong>${formatNumber(number)}</strong></a></span><span class="end">${counted(transactionCount, 'transaction')}</span>
<span class="second">${ageOf(timestamp, nowMs)} · ${labelled(labels, proposer)}</span><span class="second end" title="${gasUsed} of ${gasLimit}">${formatNumber(BigInt(gasUsed))} gas</span></li>`,
  )}`

/** Rows of the live list of transactions. */
export const transactionRows = (
  items: readonly TransactionItem[],
  labels: Labels,
  symbol: string,
  nowMs: number,
): Html =>
  html`${items.map(
    item => html`
<li data-key="${item.hash}"><span>${transactionLink(item.hash)} ${item.status === 0 ? statusChip(0) : methodChip(item)}</span><span class="end">${tokens(item.value)} ${symbol}</span>
<span class="second">${labelled(labels, item.from)} <span class="arrow" aria-hidden="true">→</span><span class="hidden">to</span> ${recipient(item, labels)}</span><span class="second end">${ageOf(item.timestamp, nowMs)}</span></li>`,
  )}`
