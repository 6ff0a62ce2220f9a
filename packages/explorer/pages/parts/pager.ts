import { formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import type { ListBody } from '../../api/paging.ts'
import type { ExplorerPageRequest } from '../page-route.ts'

const address = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value)
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

/** A number of things. */
export const counted = (count: number, what: string): string =>
  `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`

/** Link to a list as a file, from the place of the page on. */
const csvLink = (list: string, { query }: ExplorerPageRequest): Html =>
  html`<a href="${address(`${EXPLORER_PATH}/csv${list}`, { cursor: query['cursor'], kind: query['kind'], role: query['role'] })}" download>CSV</a>`

/**
 * Links from one page of a list to the next, and back to the first; `what` is one item of the list, `csv` the path of its file.
 */
export const pager = (request: ExplorerPageRequest, list: ListBody<unknown>, what: string, csv?: string): Html => {
  const { path, query } = request
  const isFirst = query['cursor'] === undefined
  if (isFirst && list.nextCursor === null && list.items.length === 0) return html``
  const count = list.total === null ? html`` : html`${counted(list.total, what)}`
  return html`
<div class="pager"><span>${count}${csv !== undefined && list.items.length > 0 && html` ${csvLink(csv, request)}`}</span><span>
${!isFirst && html`<a class="button plain" href="${address(path, { ...query, cursor: undefined })}">First page</a>`}
${list.nextCursor !== null && html`<a class="button plain" href="${address(path, { ...query, cursor: list.nextCursor })}">Next page</a>`}
</span></div>`
}

interface Tab {
  /** Value of `tab` in the address; empty for the first. */
  readonly name: string
  readonly label: string
  readonly count?: number
}

/** One of a few links, with a mark where it leads to what is shown. */
export const choice = (href: string, label: Fragment, isCurrent: boolean): Html =>
  html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${label}</a>`

/** Tabs as links, each a page of its own. */
export const tabs = (path: string, current: string, items: readonly Tab[]): Html => html`
<nav class="tabs" aria-label="Parts of this page">${items.map(({ name, label, count }) => {
  const text = html`${label}${count !== undefined && html` <span class="count">${formatNumber(count)}</span>`}`
  return choice(address(path, { tab: name }), text, name === current)
})}</nav>`

/** Name of the tab that a request asks for: the first when it names none of them. */
export const tabOf = ({ query }: ExplorerPageRequest, names: readonly string[]): string =>
  names.find(name => name === query['tab']) ?? ''
