import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { copyButton } from '@tandem/web/parts.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import { plainText } from '../../chain/plain-text.ts'

const HEAD_CHARS = 6
const TAIL_CHARS = 4

/** Both ends of a long hex text. */
const shortened = (text: string): string => `${text.slice(0, HEAD_CHARS)}…${text.slice(-TAIL_CHARS)}`

/** Path of a page of the explorer; its parts are numbers, addresses and hashes. */
export const pathTo = (...parts: readonly (string | number)[]): string =>
  [EXPLORER_PATH, ...parts.map(part => encodeURIComponent(part))].join('/')

export const blockLink = (number: number): Html =>
  html`<a href="${pathTo('block', number)}">${number.toLocaleString('en-US')}</a>`

export const transactionLink = (hash: string): Html =>
  html`<a href="${pathTo('tx', hash)}" title="${hash}"><code>${shortened(hash)}</code></a>`

/** An address, by its label where it has one. */
export const addressLink = (address: string, label: string | null = null): Html =>
  html`<a href="${pathTo('address', address)}" title="${address}">${label === null ? html`<code>${shortened(address)}</code>` : nameText(label, '')}</a>`

/** An address with every digit and a copy button. */
export const wholeAddress = (address: string, label: string | null = null): Html =>
  html`<span class="copyable"><a href="${pathTo('address', address)}"><code>${address}</code></a>${copyButton(address, 'address')}</span>${label !== null && html` <span class="chip">${nameText(label, '')}</span>`}`

export const wholeHash = (hash: string, what: string, href?: string): Html =>
  html`<span class="copyable">${href === undefined ? html`<code>${hash}</code>` : html`<a href="${href}"><code>${hash}</code></a>`}${copyButton(hash, what)}</span>`

const NAME_CHARS = 64

/** A name that somebody else chose: cut, without invisible characters, and of its own direction. */
export const nameText = (text: string | null, missing: Fragment, limit = NAME_CHARS): Html => {
  const shown = text === null ? null : plainText(text, limit)
  return shown === null ? html`<span class="arrow">${missing}</span>` : html`<bdi class="name">${shown}</bdi>`
}

const REASON_CHARS = 256

/** The reason of a failure, as safe to show as a name. */
export const reasonText = (text: string, missing: Fragment): Html => nameText(text, missing, REASON_CHARS)

/** A value that a contract gave, as safe to show as a name; a longer one ends with an ellipsis. */
export const shownValue = (text: string, limit: number): Html =>
  html`<bdi class="value">${plainText(text, limit) ?? html`<span class="arrow">empty</span>`}</bdi>${text.length > limit && '…'}`

const PROBLEM_CHARS = 1_000

/** Why a submission was refused, in the lines in which it is told: a compiler points below its own line at the place it means. */
export const refusalLines = (text: string): Html => {
  const lines = text.slice(0, PROBLEM_CHARS).split('\n')
  const shown = lines.map(line => {
    const words = line.trimStart()
    return `${' '.repeat(line.length - words.length)}${plainText(words, PROBLEM_CHARS) ?? ''}`
  })
  return html`<bdi class="told">${shown.join('\n')}</bdi>`
}

interface NamedToken {
  readonly address: string
  readonly name: string | null
  readonly symbol: string | null
}

/** A token by its symbol, then its name, then its address. */
export const tokenLink = ({ address, name, symbol }: NamedToken): Html =>
  html`<a href="${pathTo('token', address)}" title="${address}">${nameText(symbol ?? name, html`<code>${shortened(address)}</code>`)}</a>`
