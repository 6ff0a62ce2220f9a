import { formatAmount } from '@tandem/web/amounts.ts'
import { loadAsset } from '@tandem/web/assets.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { card, copyable, facts } from '@tandem/web/parts.ts'
import { renderPage } from '@tandem/web/shell.ts'
import { FAUCET_PATH, type Site } from '@tandem/web/site.ts'
import { durationText, timeOf } from '@tandem/web/times.ts'
import { FAUCET_LIMITS } from '../config/limits/faucet.ts'
import { checksumAddress } from '../crypto/checksum.ts'
import type { Grant } from './grant-store.ts'

/** Script of the form, and worker of its proof of work. */
export const FAUCET_SCRIPT = loadAsset(new URL('./assets/', import.meta.url), 'faucet', 'js')

const AMOUNT = formatAmount(FAUCET_LIMITS.grantWei, 18)
/** Length to which an input that is shown again is cut. */
const SHOWN_CHARS = 100

interface FormProblem {
  readonly text: string
  /** Input as it was sent. */
  readonly input: string
  /** The input itself is wrong. */
  readonly isField: boolean
}

interface FormPage {
  readonly site: Site
  /** The faucet's account. */
  readonly address: string
  readonly problem?: FormProblem
}

const heading = (title: string, lead: Fragment): Html => html`
<div class="title">
<div class="line"><h1>${title}</h1></div>
<p class="lead">${lead}</p>
</div>`

const alert = ({ text, isField }: FormProblem): Html => html`
<div class="alert" role="alert" id="faucet-error"><strong>No tokens were sent.</strong>${isField ? html`<a href="#address">${text}</a>` : text}</div>`

const form = ({ problem }: FormPage): Html => {
  const describedBy = problem === undefined ? 'faucet-hint' : 'faucet-hint faucet-error'
  return html`
<form class="stack" method="post" action="${FAUCET_PATH}" data-faucet="${FAUCET_SCRIPT.path}" novalidate>
<label for="address"><strong>Your address</strong></label>
<input id="address" name="address" type="text" value="${problem?.input.slice(0, SHOWN_CHARS)}" maxlength="200" inputmode="text" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="${describedBy}" ${problem?.isField === true && html`aria-invalid="true" autofocus`}>
<small id="faucet-hint">0x and 40 hex digits, as your wallet shows it. No wallet connection and no signature are needed.</small>
<input type="hidden" name="challenge"><input type="hidden" name="at"><input type="hidden" name="nonce">
<div><button type="submit">Send me ${AMOUNT} tokens</button></div>
<p id="faucet-status" role="status"></p>
</form>`
}

const addressLink = (site: Site, address: string): Html =>
  site.explorerUrl
    ? html`<a href="${site.explorerUrl}/address/${address}"><code>${address}</code></a>`
    : html`<code>${address}</code>`

/** Page with the form; `problem`: what was wrong with the last request. */
export const formPage = (options: FormPage): string => {
  const { site, address, problem } = options
  return renderPage({
    site,
    title: problem === undefined ? 'Faucet' : 'No tokens sent · Faucet',
    path: FAUCET_PATH,
    body: html`
${heading('Faucet', html`${AMOUNT} test tokens (${site.symbol}) for an address, once in 24 hours. They have no value and cannot be moved to mainnet.`)}
${problem && alert(problem)}
<div class="columns">
${card('Get test tokens', form(options))}
${card(
  'How it works',
  html`${facts([
    ['Amount', `${AMOUNT} ${site.symbol}`],
    ['How often', 'once in 24 hours for an address'],
    ['Sent by', addressLink(site, checksumAddress(address as `0x${string}`))],
    ['For scripts', html`<code>POST ${FAUCET_PATH}</code> with <code>{"address":"0x…"}</code>`],
  ])}`,
)}
</div>
<script src="${FAUCET_SCRIPT.path}"></script>`,
  })
}

const STATES: Readonly<Record<Grant['state'], string>> = {
  reserved: 'reserved: the transfer is being prepared',
  signed: 'sent: it waits for the next block',
  settled: 'paid',
}

const transaction = (site: Site, hash: string): Html =>
  html`${site.explorerUrl && html`<a href="${site.explorerUrl}/tx/${hash}">Show in the explorer</a> `}${copyable(hash, 'hash of the transaction')}`

/** Page of the last grant of an address. */
export const grantPage = (
  site: Site,
  grant: Grant,
  times: { readonly nextMs: number; readonly nowMs: number },
): string => {
  const { state, hash, block } = grant
  const address = checksumAddress(grant.address)
  const seconds = (times.nextMs - times.nowMs) / 1_000
  return renderPage({
    site,
    title: 'Grant · Faucet',
    path: `${FAUCET_PATH}/grants`,
    body: html`
${heading(state === 'settled' ? 'Your tokens are there' : 'Your tokens are on their way', html`${AMOUNT} ${site.symbol} for ${addressLink(site, address)}`)}
${card(
  'Grant',
  facts([
    ['State', STATES[state]],
    hash !== undefined && ['Transaction', transaction(site, hash)],
    block !== undefined && [
      'Block',
      site.explorerUrl ? html`<a href="${site.explorerUrl}/block/${block}">${block}</a>` : block,
    ],
    ['Next grant', html`in ${durationText(seconds)}: ${timeOf(Math.ceil(times.nextMs / 1_000))}`],
  ]),
)}
${state !== 'settled' && html`<p class="note" data-reload="1" role="status">The page is loaded again by itself where scripts run; otherwise reload it in a moment.</p>`}
<p><a href="${FAUCET_PATH}">Back to the faucet</a></p>`,
  })
}

/** Page of an address that has no grant, or none that this chain knows. */
export const noGrantPage = (site: Site): string =>
  renderPage({
    site,
    title: 'No grant · Faucet',
    path: `${FAUCET_PATH}/grants`,
    body: html`
${heading('No grant', 'The faucet gave nothing to this address. Grants of a temporary chain end with it.')}
<p><a href="${FAUCET_PATH}">Back to the faucet</a></p>`,
  })
