import { type Html, html } from '@tandem/web/html.ts'
import { card, copyButton } from '@tandem/web/parts.ts'
import type { ApiRoute } from '../../api/api-route.ts'
import { API_ROUTES } from '../../api/api-routes.ts'
import { openApiPath } from '../../api/openapi.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { counted } from '../parts/pager.ts'

const parameters = (schemas: ApiRoute['query']): Html | undefined => {
  const entries = Object.entries(schemas ?? {})
  return entries.length === 0
    ? undefined
    : html`<ul class="list">${entries.map(([name, { description, enum: values }]) => html`<li><code>${name}</code> <small>${description?.replaceAll('`', '')}${values && html` (${values.map(String).join(', ')})`}</small></li>`)}</ul>`
}

const route = ({ method = 'GET', path, summary, params, query }: ApiRoute): Html => {
  const count = Object.keys(params ?? {}).length + Object.keys(query ?? {}).length
  const isTried = method === 'GET' && params === undefined
  return html`
<li><div class="card-head"><h3><span class="${method === 'GET' ? 'chip' : 'chip proof'}">${method}</span> <code>${openApiPath(path)}</code></h3>${copyButton(path, 'path')}</div>
<p>${summary}${isTried && html` <a href="${path}${query?.['q'] ? '?q=a' : ''}">Try it</a>`}</p>
${count > 0 && html`<details class="data"><summary>${counted(count, 'parameter')}</summary>${parameters(params)}${parameters(query)}</details>`}</li>`
}

export const apiPages: readonly PageRoute[] = [
  {
    path: '/api',
    needsIndex: false,
    render: async () => ({
      title: 'API',
      body: html`
${heading('API', { lead: html`Everything these pages show, as JSON. The whole description is <a href="/api/openapi.json">an OpenAPI 3.1 document</a>.` })}
${card(
  'Ground rules',
  html`<ul class="prose">
<li>Wei, gas and token units are decimal strings; what is absent is null.</li>
<li>Lists take <code>limit</code> and <code>cursor</code>; <code>nextCursor</code> of one page is the cursor of the next.</li>
<li>${EXPLORER_LIMITS.rate.free} requests in a minute, ${EXPLORER_LIMITS.rate.pro.toLocaleString('en-US')} with a key in <code>x-api-key</code>. Pages and API are counted together.</li>
<li>Tools made for Etherscan find its modules at <code>/api?module=…&amp;action=…</code>.</li>
</ul>`,
)}
${card('Endpoints', html`<ul class="logs">${API_ROUTES.map(route)}</ul>`)}`,
    }),
  },
]
