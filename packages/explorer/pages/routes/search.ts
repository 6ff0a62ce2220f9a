import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState } from '@tandem/web/parts.ts'
import { type SearchHit, searchBody, searchText } from '../../api/routes/search.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ExplorerPageRequest, PageContent, PageContext, PageRedirect, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { nameText, pathTo } from '../parts/links.ts'
import { table } from '../parts/table.ts'

const pathOfHit = ({ type, address, hash, number }: SearchHit): string => {
  if (type === 'token') return pathTo('token', address ?? '')
  if (type === 'transaction') return pathTo('tx', hash ?? '')
  if (type === 'block') return pathTo('block', number ?? 0)
  return pathTo('address', address ?? '')
}

const named = (hit: SearchHit): Html =>
  html`<a href="${pathOfHit(hit)}"><code>${hit.address ?? hit.hash ?? hit.number}</code></a>`

const results = (hits: readonly SearchHit[]): Html =>
  table(
    'Results of the search',
    [
      { title: 'Kind', cell: ({ type }) => html`<span class="chip">${type}</span>` },
      {
        title: 'Name',
        cell: ({ name, symbol }) =>
          html`${nameText(name, '')}${symbol !== null && html` <span class="chip">${nameText(symbol, '')}</span>`}`,
      },
      { title: 'Result', cell: named },
    ],
    hits,
    emptyState(
      'Nothing was found.',
      'Search for the number or hash of a block, the hash of a transaction, an address, or the beginning of a word of a token or label.',
    ),
  )

/** A search for an address, a hash or a number goes straight to its page; names may be shared, and lead to a list. */
const searchPage = async (
  context: PageContext,
  { query }: ExplorerPageRequest,
): Promise<PageContent | PageRedirect> => {
  const given = query['q'] ?? ''
  const text = searchText(given)
  if (text === undefined)
    return {
      title: 'Search',
      search: given.slice(0, EXPLORER_LIMITS.api.searchChars),
      status: given.trim() === '' ? 200 : 400,
      body: html`${heading('Search')}${card('Results', emptyState('What are you looking for?', `A text of 1 to ${EXPLORER_LIMITS.api.searchChars} characters: a block, a hash, an address, a token or a label.`))}`,
    }
  const hits = (await searchBody(context, text)).results
  const exact = hits.find(
    ({ address, hash, number }) => String(address ?? hash ?? number).toLowerCase() === text.toLowerCase(),
  )
  if (exact !== undefined) return { location: pathOfHit(exact) }
  return {
    title: 'Search',
    search: text,
    body: html`${heading('Search', { lead: html`Results for ${nameText(text, '')}` })}${card('Results', results(hits))}`,
  }
}

export const searchPages: readonly PageRoute[] = [{ path: '/search', needsIndex: true, render: searchPage }]
