import { type Fragment, type Html, html } from './html.ts'

const COPY_ICON = html`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false"><path d="M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" /></svg>`

/** Button that copies a text; shown only where scripts run. */
export const copyButton = (text: string, what: string): Html =>
  html`<button class="icon copy scripted" type="button" data-copy="${text}" aria-label="Copy ${what}" title="Copy ${what}">${COPY_ICON}</button>`

/** A value that people copy, with its button. */
export const copyable = (text: string, what: string): Html =>
  html`<span class="copyable"><code>${text}</code>${copyButton(text, what)}</span>`

/** Bytes or code in a box that scrolls, also by keyboard. */
export const codeBox = (text: Fragment, name: string): Html =>
  html`<div class="data-text" tabindex="0" role="region" aria-label="${name}"><code>${text}</code></div>`

/** Section with a heading; `note` stands beside it. */
export const card = (title: string, body: Fragment, note?: Fragment): Html => html`
<section class="card">
<div class="card-head"><h2>${title}</h2>${note !== undefined && html`<div class="note">${note}</div>`}</div>
${body}
</section>`

/** Names and values; entries that are false are left out. */
export const facts = (entries: readonly (readonly [Fragment, Fragment] | false)[]): Html => html`
<dl class="facts">${entries.map(entry => entry !== false && html`<div><dt>${entry[0]}</dt><dd>${entry[1]}</dd></div>`)}</dl>`

/** Large numbers side by side. */
export const figures = (entries: readonly (readonly [string, Fragment, Fragment?])[]): Html => html`
<dl class="figures">${entries.map(([name, value, note]) => html`<div><dt>${name}</dt><dd>${value}${note !== undefined && html`<small>${note}</small>`}</dd></div>`)}</dl>`

/** Explanation of a missing content: what would be here, and when. */
export const emptyState = (title: string, text: Fragment): Html =>
  html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p></div>`
