import { ICON, SCRIPT, STYLE_SHEET } from './assets.ts'
import { type Fragment, type Html, html, NOTHING } from './html.ts'
import { RPC_PATH, type Site, type SiteLink, siteLinks } from './site.ts'

interface PageOptions {
  readonly site: Site
  /** Title of the document, without the name of the site. */
  readonly title: string
  /** Path of the page, which its link in the navigation marks as current. */
  readonly path: string
  /** Text of the search box. */
  readonly search?: string
  readonly body: Fragment
}

const link = (path: string, { href, label }: SiteLink): Html =>
  href === path ? html`<a href="${href}" aria-current="page">${label}</a>` : html`<a href="${href}">${label}</a>`

/** The mark of the two chains. */
const MARK = html`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false"><rect x="3" y="9" width="17" height="9" rx="4.5" /><rect x="12" y="14" width="17" height="9" rx="4.5" /></svg>`

const searchForm = (explorerUrl: string, text: string): Html => html`
<form class="search" action="${explorerUrl}/search" role="search">
<label class="hidden" for="q">Search block, transaction, address, token or label</label>
<input id="q" name="q" type="search" value="${text}" placeholder="Block, hash, address, token, label" maxlength="100" autocomplete="off" autocapitalize="off" spellcheck="false" required>
<button type="submit">Search</button>
</form>`

const header = ({ site, path, search = '' }: PageOptions): Html => {
  const links = siteLinks(site).map(item => link(path, item))
  return html`
<header class="top">
<div class="bar">
<a class="brand" href="/">${MARK}<span>Tandem</span></a>
<span class="chip network">${site.network}</span>
${site.explorerUrl && searchForm(site.explorerUrl, search)}
<button class="icon theme scripted" type="button" aria-label="Switch between light and dark"><span aria-hidden="true">◐</span></button>
</div>
${
  links.length === 0
    ? NOTHING
    : html`
<nav class="wide" aria-label="Pages">${links}</nav>
<details class="narrow"><summary>Menu</summary><nav aria-label="Pages">${links}</nav></details>`
}
</header>`
}

const footer = ({ version, explorerUrl, rpcUrl }: Site): Html => html`
<footer class="bottom">
<p>Tandem ${version}${rpcUrl === RPC_PATH && ', served by this node'}.</p>
<p>${rpcUrl === RPC_PATH && html`<a href="${RPC_PATH}">This node</a>`}${explorerUrl && html`<a href="${explorerUrl}/verify">Verify a contract</a><a href="${explorerUrl}/api">API</a>`}</p>
</footer>`

/** A whole document: the same head, navigation and footer around every page of a node. */
export const renderPage = (options: PageOptions): string => {
  const { site, title, body } = options
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tandem ${site.network}</title>
<link rel="icon" href="${ICON.path}" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_SHEET.path}">
<script src="${SCRIPT.path}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${header(options)}
<main id="main" tabindex="-1">
${body}
</main>
${footer(site)}
</body>
</html>
`.toString()
}
