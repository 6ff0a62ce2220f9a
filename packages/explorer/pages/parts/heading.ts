import { type Fragment, type Html, html } from '@tandem/web/html.ts'

/** Head of a page: its name, marks beside it, and a sentence about it. */
export const heading = (
  title: Fragment,
  { marks, lead, steps }: { readonly marks?: Fragment; readonly lead?: Fragment; readonly steps?: Fragment } = {},
): Html => html`
<div class="title"><div class="line"><h1>${title}</h1>${marks}${steps !== undefined && html`<div class="steps">${steps}</div>`}</div>
${lead !== undefined && html`<p class="lead">${lead}</p>`}</div>`
