import { html } from '@tandem/web/html.ts'
import { emptyState } from '@tandem/web/parts.ts'
import { renderPage } from '@tandem/web/shell.ts'
import type { Site } from '@tandem/web/site.ts'
import { heading } from './parts/heading.ts'
import { pathTo } from './parts/links.ts'

const TITLES: Readonly<Record<number, string>> = {
  400: 'This address cannot be read',
  403: 'Refused',
  404: 'Not found',
  413: 'Too large',
  414: 'This address is too long',
  429: 'Too many requests',
  500: 'This page failed',
  503: 'The explorer is starting',
}

/** Page of an error: what happened, and what to do. `reloads`: its script tries again after a moment. */
export const errorPage = (
  site: Site,
  {
    status,
    text,
    path,
    reloads = false,
  }: { readonly status: number; readonly text: string; readonly path: string; readonly reloads?: boolean },
): string => {
  const title = TITLES[status] ?? 'Error'
  return renderPage({
    site,
    title,
    path,
    body: html`${heading(title, { marks: html`<span class="chip">${status}</span>` })}
${emptyState(text, html`<a href="${pathTo()}">Go to the explorer</a>`)}
${reloads && html`<p class="note" data-reload="1" role="status">The page is loaded again by itself where scripts run; otherwise reload it in a moment.</p>`}`,
  })
}
