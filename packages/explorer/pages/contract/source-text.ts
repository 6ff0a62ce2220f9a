import { type Html, html } from '@tandem/web/html.ts'

/** Characters that are not seen, or that turn the direction of the text beside them. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Co}\p{Zl}\p{Zp}]/gu

/** Source code with each invisible character as its code, so that none can hide what a line does. */
const visibleSource = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .toWellFormed()
    .replace(INVISIBLE, character =>
      character === '\n' || character === '\t'
        ? character
        : `\u2039U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}\u203A`,
    )

/** Source code with the numbers of its lines, in a box that scrolls. */
export const sourceText = (text: string, name: string): Html => {
  const shown = visibleSource(text)
  const lines = shown.split('\n').length
  const numbers = Array.from({ length: lines }, (_, at) => at + 1).join('\n')
  return html`<div class="source" tabindex="0" role="region" aria-label="${name}"><pre class="lines" aria-hidden="true">${numbers}</pre><pre><code>${shown}</code></pre></div>`
}
